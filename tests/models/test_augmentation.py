import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from cusal.errors import InvalidInput, UnknownName
from cusal.models.augmentation import (
    DEFAULT,
    MIXUP,
    NAMES,
    OPERATIONS,
    augment,
    mixed_cross_entropy,
    mixup,
)
from cusal.models.networks import SmallNet
from cusal.models.torch_classifier import TorchClassifier

SHAPES = [(1, 8, 8), (3, 6, 10), (1, 1, 1)]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def images(*shape, rows=40):
    return torch.randn(rows, *shape, generator=generator(9))


def bar():
    """One image of a vertical bar, 9 x 9."""
    image = torch.zeros(1, 1, 9, 9)
    image[..., 4] = 1
    return image


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_shape_and_type_stay_and_values_are_finite(name, shape):
    items = images(*shape)
    before = items.clone()
    changed = augment(items, [name], strength=1, generator=generator())
    assert changed.shape == items.shape
    assert changed.dtype == torch.float32
    assert torch.isfinite(changed).all()
    assert torch.equal(items, before)  # the batch that was given is not written to


@pytest.mark.parametrize("name", OPERATIONS)
def test_strength_zero_gives_the_items_back(name):
    items = images(3, 8, 8)
    assert torch.equal(augment(items, [name], strength=0), items)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_tiny_strength_changes_tiny_amounts(name):
    items = images(3, 8, 8)
    assert (augment(items, [name], strength=1e-4, generator=generator()) - items).abs().max() < 0.01


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "flip"])  # a flip has two outcomes
def test_rows_draw_parameters_of_their_own_unless_shared(name):
    items = images(3, 16, 16, rows=1).expand(12, -1, -1, -1)
    own = augment(items, [name], strength=1, generator=generator())
    assert len(torch.unique(own, dim=0)) > 6
    shared = augment(items, [name], strength=1, generator=generator(), shared=True)
    assert torch.equal(shared, shared[:1].expand_as(shared))


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_shared_draw_does_not_depend_on_the_other_rows(name):
    items = images(3, 8, 8)
    whole = augment(items, [name], strength=0.7, generator=generator(4), shared=True)
    part = augment(items[10:15], [name], strength=0.7, generator=generator(4), shared=True)
    assert torch.allclose(whole[10:15], part, atol=1e-6)


def test_flip_mirrors_about_half_the_rows_left_to_right():
    items = images(1, 4, 5, rows=400)
    flipped = augment(items, ["flip"], strength=1, generator=generator())
    mirrored = (flipped == items.flip(3)).flatten(1).all(1)
    assert torch.equal(flipped[~mirrored], items[~mirrored])
    assert 150 < int(mirrored.sum()) < 250


def test_crop_moves_by_whole_pixels_and_repeats_the_edge():
    image = torch.arange(64.0).reshape(1, 1, 8, 8)
    moved = OPERATIONS["crop"].apply(image, 1.0, torch.tensor([[0.5, -1.0]]))  # 1 pixel up, 2 to the right
    expected = image[0, 0][[1, 2, 3, 4, 5, 6, 7, 7]][:, [0, 0, 0, 1, 2, 3, 4, 5]]
    assert torch.equal(moved[0, 0], expected)


def test_affine_rotates_by_the_angle_also_when_an_image_is_not_square():
    tall = torch.zeros(1, 1, 41, 21)
    tall[..., 10] = 1  # a vertical line through the centre
    turned = OPERATIONS["affine"].apply(tall, 1.0, torch.tensor([[1.0, 0.0, 0.0]]))[0, 0]
    rows = torch.arange(12, 29)
    columns = (turned[rows] * torch.arange(21.0)).sum(1) / turned[rows].sum(1)
    slope = (columns[-1] - columns[0]) / (rows[-1] - rows[0])
    assert abs(float(slope)) == pytest.approx(np.tan(np.radians(30)), abs=0.02)


def test_affine_scales_about_the_centre():
    image = torch.zeros(1, 1, 21, 21)
    image[..., 5:16, 5:16] = 1
    smaller = OPERATIONS["affine"].apply(image, 1.0, torch.tensor([[0.0, 1.0, 0.0]]))
    assert float(smaller.sum() / image.sum()) == pytest.approx(1 / 1.2**2, abs=0.03)
    assert torch.allclose(smaller, smaller.flip(2).flip(3), atol=1e-5)


def test_colour_keeps_the_picture_up_to_scale_and_greys_stay_grey():
    items = images(1, 8, 8)
    changed = augment(items, ["colour"], strength=1, generator=generator())
    for before, after in zip(items.flatten(1), changed.flatten(1), strict=True):
        assert np.corrcoef(before, after)[0, 1] > 0.9999
    grey = images(1, 8, 8).expand(-1, 3, -1, -1)
    changed = augment(grey, ["colour"], strength=1, generator=generator())
    assert torch.allclose(changed, changed[:, :1].expand_as(changed), atol=1e-5)


def test_cutout_hides_at_most_a_square_of_half_the_side():
    items = images(3, 12, 12, rows=200)
    hidden = (augment(items, ["cutout"], strength=1, generator=generator()) != items).any(1)
    assert 0 < int(hidden.flatten(1).sum(1).max()) <= 7 * 7
    half = (augment(items, ["cutout"], strength=0.5, generator=generator()) != items).any(1)
    assert int(half.sum()) < int(hidden.sum())


def test_operations_follow_each_other_in_the_given_order():
    items = images(1, 8, 8)
    first = augment(items, ["crop"], strength=0.5, generator=(source := generator()))
    both = augment(first, ["cutout"], strength=0.5, generator=source)
    assert torch.equal(augment(items, ["crop", "cutout"], strength=0.5, generator=generator()), both)


def test_mixup_lies_between_two_items_and_its_weights_sum_to_one():
    items, labels = images(1, 4, 4), torch.arange(40) % 7
    mixed = mixup(items, labels, strength=1, generator=generator())
    assert torch.allclose(mixed.weights.sum(1), torch.ones(40))
    assert mixed.weights.min() >= 0
    assert mixed.weights[:, 1].max() <= 0.5
    assert mixed.weights[:, 1].std() > 0.05  # rows have weights of their own
    assert torch.equal(mixed.labels[:, 0], labels)
    partner = torch.randperm(40, generator=generator())
    assert torch.equal(mixed.labels[:, 1], labels[partner])
    low, high = torch.minimum(items, items[partner]), torch.maximum(items, items[partner])
    assert ((mixed.items >= low - 1e-6) & (mixed.items <= high + 1e-6)).all()


def test_mixup_of_strength_zero_gives_the_items_back():
    items, labels = torch.randn(5, 3), torch.arange(5)
    mixed = mixup(items, labels, strength=0, generator=generator())
    assert torch.equal(mixed.items, items)
    assert torch.equal(mixed.weights, torch.tensor([1.0, 0.0]).expand(5, 2))


def test_mixed_cross_entropy_of_pure_rows_is_cross_entropy():
    logits, labels = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 0, 1])
    pairs, weights = torch.stack([labels, labels.flip(0)], 1), torch.tensor([1.0, 0.0]).expand(6, 2)
    expected = torch.nn.functional.cross_entropy(logits, labels)
    assert torch.allclose(mixed_cross_entropy(logits, pairs, weights), expected)
    halves = mixed_cross_entropy(logits, pairs, torch.full((6, 2), 0.5))
    other = torch.nn.functional.cross_entropy(logits, labels.flip(0))
    assert torch.allclose(halves, (expected + other) / 2)


def test_mildly_augmented_digits_keep_their_labels():
    X, y = load_digits(return_X_y=True)
    items = torch.from_numpy((X / 16).astype(np.float32).reshape(-1, 1, 8, 8))
    model = TorchClassifier(SmallNet(64, 10), epochs=40, random_state=0).fit(items[:900], y[:900])
    plain = model.score(items[900:], y[900:])
    for name in ("crop", "affine", "colour", "cutout"):  # moved by a pixel of eight, a digit is another picture
        changed = augment(items[900:], [name], strength=0.2, generator=generator())
        assert model.score(changed, y[900:]) > plain - 0.05, name


def test_defaults_are_known_and_hold_no_flip():
    assert set(DEFAULT) <= set(NAMES) == {*OPERATIONS, MIXUP}
    assert "flip" not in DEFAULT


def test_rows_of_a_table_are_refused_and_the_error_names_a_way_out():
    with pytest.raises(InvalidInput, match=r"'crop' met items of shape \(64,\).*mixup"):
        augment(torch.zeros(3, 64), ["crop"], strength=0.5)


def test_bad_names_and_strengths_are_errors():
    with pytest.raises(UnknownName, match="did you mean 'crop'"):
        augment(bar(), ["corp"], strength=0.5)
    with pytest.raises(UnknownName):
        augment(bar(), ["mixup"], strength=0.5)  # it changes labels, which are not given here
    for strength in (-0.1, 1.5, float("nan"), True, "strong"):
        with pytest.raises(InvalidInput, match="strength is"):
            augment(bar(), ["crop"], strength=strength)

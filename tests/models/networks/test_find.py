"""Networks are found by the names of their files, and those of the user's own by where they are imported from."""

import pickle
import subprocess
import sys

import pytest
import torch
from torch import nn

from cusal.apps.bench.variants import build_module
from cusal.errors import CusalError, UnknownName
from cusal.models import networks
from cusal.models.networks import check_name as check_network


class Mine(nn.Module):
    """A network of a user's own."""

    def __init__(self, inputs: int, classes: int, width: int = 3):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, classes))

    def forward(self, x):
        return self.layers(x)


@pytest.mark.parametrize("name", networks.names())
def test_every_network_is_a_module_that_a_grid_can_build_and_pickle(name):
    kind = networks.find(name)
    assert issubclass(kind, nn.Module)
    assert getattr(networks, kind.__name__) is kind
    net = build_module({"name": name}, (3, 32, 32), 7)
    assert next(weight for weight in reversed(list(net.parameters()))).shape[0] == 7
    assert type(pickle.loads(pickle.dumps(net))) is kind


def test_names_do_not_load_torch():
    code = (
        "import sys, cusal.models\n"
        "from cusal.models.networks import check_name\n"
        "from cusal.apps.bench.variants import check_model\n"
        "assert 'small_net' in cusal.models.networks.names()\n"
        "check_name('mnist_net')\n"
        "check_model({'name': 'temperature_scaled', 'of': 'energy'})\n"
        "print('torch' in sys.modules)\n"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_a_class_that_was_pickled_by_the_name_of_the_package_is_found():
    """Pickles name a class by its module: `cusal.models.networks` held these before it was a folder."""
    assert pickle.loads(b"\x80\x04ccusal.models.networks\nSmallNet\n.") is networks.SmallNet


def test_unknown_names_are_suggested():
    with pytest.raises(UnknownName, match="no network named 'small_nett'; did you mean 'small_net'"):
        networks.find("small_nett")
    with pytest.raises(AttributeError, match="Resnet18"):
        _ = networks.Resnet18


def test_a_network_of_the_users_own_is_built_with_its_settings():
    name = f"{__name__}:Mine"
    check_network(name)
    net = build_module({"name": name, "width": 5}, (1, 2, 2), 3)
    assert isinstance(net, Mine)
    assert net(torch.zeros(2, 1, 2, 2)).shape == (2, 3)
    with pytest.raises(UnknownName, match="did you mean 'width'"):
        build_module({"name": name, "widht": 5}, (1, 2, 2), 3)


def test_a_network_in_the_folder_that_one_started_in_is_found(tmp_path):
    (tmp_path / "mine.py").write_text("from torch import nn\nclass Net(nn.Linear):\n    pass\n")
    code = "from cusal.models import networks; print(networks.find('mine:Net').__name__)"
    # -P: without the folder on the path, as for an installed command.
    found = subprocess.check_output([sys.executable, "-P", "-c", code], text=True, cwd=tmp_path)
    assert found.strip() == "Net"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.at_all:Net", "there is no module 'nowhere'"),
        (f"{__name__}:Mein", "did you mean 'Mine'"),
        (":Net", "package.module:Name"),
        ("torch.nn:Linear", "has no parameter `classes`"),
        ("torch:pi", "expected a class of torch.nn.Module"),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error(name, message):
    with pytest.raises(CusalError, match=message):
        build_module({"name": name}, (4,), 3)


def test_a_setting_that_a_network_lacks_is_named():
    with pytest.raises(UnknownName, match="did you mean 'hidden'"):
        build_module({"name": "small_net", "hiden": 3}, (4,), 3)

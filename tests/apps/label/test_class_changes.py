"""Changes of the classes: what becomes of labels, what is refused, and that all of it can be undone."""

from itertools import count

import pytest
from projects import fill, label, pass_over

from cusal.apps.label import ClassChange
from cusal.errors import ProjectError, UnknownName

STEPS = count()


def change(project, action, person="me", **fields):
    return project.classes.change(ClassChange(f"change {next(STEPS)}", person, action, **fields))


def undo(project, person="me"):
    return project.answers.undo(person, f"step {next(STEPS)}")


def names(project):
    return [one.name for one in project.classes.all()]


def state(project):
    """What people see: classes, labels, who is how far."""
    return project.classes.all(), project.answers.labels(), project.answers.progress(), project.answers.skipped()


def test_classes_are_added_with_colours_of_their_own(project):
    first = change(project, "add", name=" cat ")
    change(project, "add", name="dog", key="D", colour="#ABCDEF", description="It barks.")
    cat, dog = project.classes.all()
    assert (cat.id, cat.name, cat.place, cat.key, cat.description, cat.labels) == (0, "cat", 0, None, "", 0)
    assert (dog.name, dog.key, dog.colour, dog.description) == ("dog", "d", "#abcdef", "It barks.")
    assert first.payload["class"] == 0
    for i in range(10):
        change(project, "add", name=str(i))
    assert len({one.colour for one in project.classes.all()}) == 12


def test_a_change_is_made_once(project):
    one = ClassChange("the change", "me", "add", name="cat")
    assert project.classes.change(one) == project.classes.change(one)
    assert names(project) == ["cat"]


def test_a_class_is_edited_field_by_field(project):
    fill(project)
    change(project, "edit", class_id=0, name="tomcat", key="t")
    change(project, "edit", class_id=0, description="male")
    change(project, "edit", class_id=0, key="")
    cat = project.classes.all()[0]
    assert (cat.name, cat.key, cat.description, cat.labels) == ("tomcat", None, "male", 1)
    for _ in range(3):
        undo(project)
    cat = project.classes.all()[0]
    assert (cat.name, cat.key, cat.description) == ("cat", None, "")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"action": "add", "name": "cat"}, "a class named 'cat' already"),
        ({"action": "add", "name": "  "}, "name of the class is empty"),
        ({"action": "add", "name": "a\0"}, "character that cannot be stored"),
        ({"action": "add", "name": "x" * 201}, "201 letters"),
        ({"action": "add", "name": "x", "key": "ab"}, "no key of the keyboard"),
        ({"action": "add", "name": "x", "colour": "red"}, "no colour"),
        ({"action": "edit", "class_id": 0, "name": "dog"}, "a class named 'dog' already"),
        ({"action": "edit", "class_id": 7, "name": "x"}, "no class 7"),
        ({"action": "merge", "class_id": 0, "into": 0}, "into itself"),
        ({"action": "merge", "class_id": 0}, "no class None"),
        ({"action": "reorder", "order": (0, 0)}, "does not name each class once"),
        ({"action": "delete", "class_id": 0, "labels_to": 0}, "cannot stay"),
        ({"action": "add", "name": "x", "person": "import"}, "labels which came with the data"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(project, fields, reason):
    fill(project)
    before, events = state(project), project.events.latest()
    with pytest.raises(ProjectError, match=reason):
        change(project, **fields)
    assert (state(project), project.events.latest()) == (before, events)


def test_an_unknown_action_is_named(project):
    with pytest.raises(UnknownName, match="did you mean 'delete'"):
        change(project, "delet", class_id=0)


def test_a_key_belongs_to_one_class(project):
    fill(project)
    change(project, "edit", class_id=0, key="x")
    with pytest.raises(ProjectError, match="belongs to the class 'cat'"):
        change(project, "edit", class_id=1, key="X")


def test_merging_moves_labels_and_can_be_undone(project):
    fill(project, classes=("cat", "dog", "puppy"))
    project.answers.store([label(0, 1), label(0, 2, "ann"), label(0, 0, "bob"), label(1, 2), pass_over(2)])
    before, start = state(project), project.events.latest()
    change(project, "merge", class_id=2, into=1)
    assert names(project) == ["cat", "dog"]
    assert project.answers.labels() == {0: 1, 1: 1, 6: 0, 7: 1, 8: 1}  # two of three now say dog
    assert project.events.changes_since(start).labelled == {0: 1, 1: 1, 8: 1}
    assert project.answers.label_counts() == {0: 1, 1: 4}
    undo(project)
    assert state(project) == before


def test_a_label_of_a_merged_class_goes_to_the_class_that_it_became(project):
    fill(project, classes=("cat", "dog", "puppy"))
    change(project, "merge", class_id=2, into=1)
    change(project, "merge", class_id=1, into=0)
    assert project.answers.store([label(0, 2)])[0].stored
    assert project.answers.labels()[0] == 0
    project.answers.import_labels([("row 1", "puppy")])
    assert project.answers.labels()[1] == 0


def test_deleting_a_class_opens_its_items_and_can_be_undone(project):
    fill(project)
    project.answers.store([label(0, 0), label(0, 1, "ann"), label(1, 0)])
    before, start = state(project), project.events.latest()
    change(project, "delete", class_id=0)
    assert project.answers.labels() == {0: 1, 7: 1}
    assert project.events.changes_since(start).opened == [1, 6]
    outcome = project.answers.store([label(2, 0)])[0]
    assert (outcome.stored, outcome.reason) == (False, "the class 'cat' was deleted")
    undo(project)
    assert state(project) == before


def test_deleting_a_class_can_give_its_labels_to_another(project):
    fill(project)
    before = state(project)
    change(project, "delete", class_id=0, labels_to=1)
    assert project.answers.labels() == {6: 1, 7: 1}
    undo(project)
    assert state(project) == before


def test_classes_are_put_in_order(project):
    fill(project, classes=("a", "b", "c"))
    change(project, "reorder", order=(2, 0, 1))
    assert names(project) == ["c", "a", "b"]
    change(project, "add", name="d")
    assert names(project) == ["c", "a", "b", "d"]
    undo(project)
    undo(project)
    assert names(project) == ["a", "b", "c"]


def test_undo_of_adding_spares_a_class_that_has_labels(project):
    fill(project)
    project.answers.store([label(0, 0)])
    change(project, "add", name="bird")
    project.answers.store([label(1, 2, "ann")])
    assert undo(project).kind == "answer"  # the label of item 0: the class has a label of ann's
    assert names(project) == ["cat", "dog", "bird"]
    undo(project, "ann")
    assert undo(project).kind == "class"
    assert names(project) == ["cat", "dog"]


def test_undo_leaves_alone_what_others_have_changed_since(project):
    fill(project)
    change(project, "edit", class_id=0, name="tomcat")
    change(project, "edit", "ann", class_id=0, name="kitten")
    undo(project)
    assert names(project) == ["kitten", "dog"]
    change(project, "delete", class_id=1)
    change(project, "add", "ann", name="dog")
    undo(project)
    assert names(project) == ["kitten", "dog (2)", "dog"]


def test_a_label_of_the_data_finds_its_class_under_a_new_name(project):
    fill(project)
    change(project, "edit", class_id=0, name="tomcat")
    change(project, "edit", class_id=1, name="hound")
    undo(project)
    change(project, "merge", class_id=0, into=1)
    project.answers.import_labels([("row 0", "cat"), ("row 1", "dog"), ("row 2", "hound")])
    assert names(project) == ["dog", "hound"]
    assert project.answers.labels([0, 1, 2]) == {0: 1, 1: 1, 2: 2}


def test_names_of_all_times_are_known(project):
    fill(project)
    change(project, "merge", class_id=0, into=1)
    assert project.classes.names() == {0: "cat", 1: "dog"}

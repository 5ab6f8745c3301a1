"""The public names of `cusal.models`, and what is said where torch is not installed."""

import subprocess
import sys

import pytest

import cusal.models

WITHOUT_TORCH = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
try:
    {statement}
except ImportError as error:
    print(type(error).__name__, error)
"""


def run(code):
    return subprocess.check_output([sys.executable, "-c", code], text=True).strip()


def test_public_names_are_sorted_and_there():
    assert cusal.models.__all__ == sorted(cusal.models.__all__)
    for name in cusal.models.__all__:
        assert getattr(cusal.models, name).__doc__


def test_importing_the_package_loads_no_torch():
    code = "import sys, cusal.models; cusal.models.objectives.names(); print('torch' in sys.modules)"
    assert run(code) == "False"


@pytest.mark.parametrize(
    "statement",
    [
        "from cusal.models import TorchClassifier",
        "from cusal.models import Energy",
        "import cusal.models; cusal.models.TorchClassifier",
        "from cusal.models.networks import SmallNet",
        "from cusal.models import objectives; objectives.find('energy')",
        "from cusal.apps.bench.variants import build_module; build_module({'name': 'small_net'}, (4,), 2)",
        "from cusal.apps.bench.variants import build_variant; build_variant('energy', lambda: None, {})",
    ],
)
def test_without_torch_one_line_says_what_to_install(statement):
    said = run(WITHOUT_TORCH.format(statement=statement))
    assert said.startswith("MissingExtra")
    assert said.endswith("needs an optional dependency; run: pip install 'cusal[torch]'")
    assert "\n" not in said


def test_what_needs_no_torch_works_without_it():
    statement = (
        "from cusal.models import Uncalibrated, networks; print(Uncalibrated.__name__, 'mnist_net' in networks.names())"
    )
    assert run(WITHOUT_TORCH.format(statement=statement)) == "Uncalibrated True"


def test_an_error_of_another_package_keeps_its_own_words():
    code = (
        "import sys\n"
        "sys.modules['sklearn'] = None\n"
        "try:\n    from cusal.models import TorchClassifier\n"
        "except ImportError as error:\n    print(type(error).__name__)"
    )
    assert run(code) == "ModuleNotFoundError"

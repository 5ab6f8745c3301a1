"""What a file may hold without `trusted=True`: these classes, with these settings and attributes, in these ranges.

This list is all of it. No class enters by its package. What is not here, or is out of its range, is written as a
pickle, and reading that needs trust. Before a line is added, four questions:

- Can making the object, or fitting or calling it later, open a file, import a module or call a function that the file
  names? Then it is not for this list: a search, a cache (`memory`), `input="filename"`, a tokenizer, a kernel.
- Is the class compiled? Then a wrong state may end the process. A fitted tree is written as arrays (`cusal.deploy`).
- Can a number make it fill the memory or never end? Then it has a range.
- Can a text? A pattern of `re` can: a setting of texts has a list of them.

`SETTINGS` are given to the class when it is called; settings that are not listed have their defaults. `ATTRIBUTES` are
put into the object after that; an object without settings is made without a call.
"""

import importlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

DEPTH = 100  # of values in values
NODES = 3_000_000  # values in a file: lists of lists take up to 200 bytes each
TEXT = 1 << 27  # bytes of JSON
UNPACKED, RATIO = 1 << 28, 4  # bytes of all parts together: the first, and so many times the file itself
KEY = 1 << 60  # whole numbers as keys: larger ones can be chosen to share one hash


@dataclass(frozen=True)
class Kind:
    """A kind of value, and in words what it is."""

    words: str
    holds: Callable[[Any], bool]

    def __or__(self, other: "Kind") -> "Kind":
        return Kind(f"{self.words} or {other.words}", lambda value: self.holds(value) or other.holds(value))


def number(least: float, most: float) -> Kind:
    """Return the kind of the numbers of a range."""
    return Kind(
        f"a number from {least:g} to {most:g}", lambda value: _is_number(value) and bool(least <= value <= most)
    )


def whole(least: int, most: int) -> Kind:
    """Return the kind of the whole numbers of a range."""
    return Kind(
        f"a whole number from {least:,} to {most:,}",
        lambda value: (
            isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(least <= value <= most)
        ),
    )


def one_of(*values: Any) -> Kind:
    """Return the kind of some values."""
    known = {(type(value), value) for value in values}
    return Kind(
        " or ".join(map(repr, values)),
        lambda value: isinstance(value, str | int | float | None) and (type(value), value) in known,
    )


def many(kind: Kind, most: int = 1000) -> Kind:
    """Return the kind of lists and tuples of up to `most` values of a kind."""
    return Kind(
        f"up to {most:,} of: {kind.words}",
        lambda value: isinstance(value, list | tuple) and len(value) <= most and all(map(kind.holds, value)),
    )


def table(keys: Kind, values: Kind) -> Kind:
    """Return the kind of dictionaries of a kind of keys and a kind of values."""
    return Kind(
        f"a table of: {values.words}",
        lambda value: (
            isinstance(value, dict) and all(map(keys.holds, value)) and all(map(values.holds, value.values()))
        ),
    )


def rows(*kinds: Kind) -> Kind:
    """Return the kind of tuples whose parts are of these kinds."""
    return Kind(
        f"a tuple of: {', '.join(kind.words for kind in kinds)}",
        lambda value: (
            isinstance(value, list | tuple)
            and len(value) == len(kinds)
            and all(kind.holds(part) for kind, part in zip(kinds, value, strict=True))
        ),
    )


def array(dtypes: str, dimensions: int | None = None) -> Kind:
    """Return the kind of arrays of these kinds of numbers, as NumPy names them."""
    return Kind(
        f"an array ({dtypes})",
        lambda value: (
            isinstance(value, np.ndarray | np.generic)
            and value.dtype.kind in dtypes
            and dimensions in (None, value.ndim)
        ),
    )


def text(most: int = 100) -> Kind:
    """Return the kind of texts of up to `most` characters."""
    return Kind(f"a text of up to {most:,} characters", lambda value: isinstance(value, str) and len(value) <= most)


def named(*names: str) -> Kind:
    """Return the kind of types and functions that have these names in `NAMES`."""
    return Kind(" or ".join(names), lambda value: name_of(value) in names)


def made_of(*names: str) -> Kind:
    """Return the kind of objects of classes of this list whose names begin so."""
    return Kind(f"an object of {' or '.join(names)}", lambda value: class_name(type(value)).startswith(names))


def class_name(kind: type) -> str:
    """Return the name that the list has for a class, or its own."""
    if kind not in _KNOWN:
        own = f"{kind.__module__}:{kind.__qualname__}"
        _KNOWN[kind] = _listed(kind.__module__, kind.__qualname__, kind, (*SETTINGS, *ATTRIBUTES)) or own
    return _KNOWN[kind]


_KNOWN: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def name_of(value: Any) -> str | None:
    """Return the name of a type or function in `NAMES`, if it is there."""
    own = getattr(value, "__name__", None)
    if not isinstance(own, str) or own not in NAMES or not callable(value):
        return None
    return own if _listed(value.__module__, own, value, (f"{NAMES[own]}:{own}",)) else None


def find_class(name: str) -> type:
    """Return the class of a name of the list."""
    module, _, own = name.partition(":")
    found: type = getattr(importlib.import_module(module), own)
    return found


def strategies() -> Any:
    """Return the package of strategies: each that it names is in the list, with plain settings."""
    return importlib.import_module("cusal.strategies")


def _listed(module: str, own: str, value: Any, names: Iterable[str]) -> str | None:
    for name in names:
        package, _, last = name.partition(":")
        if last == own and module.startswith(package) and find_class(name) is value:
            return name
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


NONE, FLAG, ANY = (
    one_of(None),
    Kind("True or False", lambda value: isinstance(value, bool | np.bool_)),
    Kind("anything", lambda value: True),
)
FRACTION, POSITIVE, FINITE = number(0, 1), number(0, 1e12), number(-1e12, 1e12)
COUNT, SEED, INDEX = whole(1, 1_000_000), NONE | whole(0, 2**32 - 1), whole(0, 2**60)
LABEL = FLAG | FINITE | text(10_000) | NONE | many(FINITE | text(10_000))
ESTIMATOR = made_of("sklearn.", "cusal.models", "cusal.recalibration", "cusal.features")
MODULE = made_of("torch.nn:", "cusal.models.networks")
CLASSES = NONE | array("iuUbf", 1)
STEPS = many(rows(text(), ESTIMATOR | one_of("passthrough", "drop", None)), 20)
WEIGHTS = one_of("balanced", "balanced_subsample", None) | table(LABEL, number(0, 1e9))
JOBS, TREES = NONE | whole(-1, 64), whole(1, 10_000)  # jobs of forests are threads; others start processes
SIDES = whole(0, 10_000) | many(whole(0, 10_000), 6)  # of a kernel, a stride, a padding

LINEAR = {"C": number(1e-12, 1e12), "class_weight": WEIGHTS, "dual": FLAG, "fit_intercept": FLAG, "max_iter": COUNT,
          "random_state": SEED, "tol": FRACTION}  # fmt: skip
TREE = {"ccp_alpha": POSITIVE, "class_weight": WEIGHTS, "criterion": one_of("gini", "entropy", "log_loss"),
        "max_depth": NONE | COUNT, "max_features": one_of("sqrt", "log2", None) | COUNT | FRACTION,
        "max_leaf_nodes": NONE | whole(2, 1_000_000), "min_impurity_decrease": POSITIVE,
        "min_samples_leaf": COUNT | FRACTION,
        "min_samples_split": COUNT | FRACTION, "min_weight_fraction_leaf": FRACTION, "random_state": SEED}  # fmt: skip
FOREST = TREE | {"n_estimators": TREES, "bootstrap": FLAG, "max_samples": NONE | COUNT | FRACTION, "n_jobs": JOBS,
                 "oob_score": FLAG}  # fmt: skip
NAIVE = {
    "alpha": POSITIVE,
    "class_prior": NONE | many(FRACTION) | array("f", 1),
    "fit_prior": FLAG,
    "force_alpha": FLAG,
}
WORDS = {"analyzer": one_of("word", "char", "char_wb"), "binary": FLAG, "lowercase": FLAG, "max_df": COUNT | FRACTION,
         "max_features": NONE | COUNT, "min_df": COUNT | FRACTION, "ngram_range": rows(whole(1, 10), whole(1, 10)),
         "stop_words": one_of("english", None) | many(text(), 10_000), "strip_accents": one_of("ascii",
         "unicode", None),
         "token_pattern": one_of(r"(?u)\b\w\w+\b", r"(?u)\b\w+\b"), "dtype": named("float32",
         "float64", "int64")}  # fmt: skip
WEIGHED_WORDS = {"norm": one_of("l1", "l2", None), "use_idf": FLAG, "smooth_idf": FLAG, "sublinear_tf": FLAG}

SETTINGS: dict[str, dict[str, Kind]] = {
    # Classifiers of scikit-learn
    "sklearn.linear_model:LogisticRegression": LINEAR | {"l1_ratio": NONE | FRACTION, "intercept_scaling": POSITIVE,
        "penalty": one_of("l1", "l2", "elasticnet", "deprecated", None), "warm_start": FLAG,
        "solver": one_of("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")},
    "sklearn.linear_model:SGDClassifier": {"alpha": POSITIVE, "average": FLAG, "class_weight": WEIGHTS,
        "early_stopping": FLAG,
        "eta0": POSITIVE, "fit_intercept": FLAG, "l1_ratio": FRACTION, "loss": one_of("log_loss", "modified_huber"),
        "learning_rate": one_of("optimal", "constant", "invscaling", "adaptive"), "max_iter": COUNT,
        "tol": NONE | FRACTION,
        "penalty": one_of("l1", "l2", "elasticnet", None), "random_state": SEED, "shuffle": FLAG, "warm_start": FLAG},
    "sklearn.svm:SVC": {"C": number(1e-12, 1e12), "class_weight": WEIGHTS, "coef0": FINITE, "degree": whole(0, 20),
        "gamma": one_of("scale", "auto") | POSITIVE, "kernel": one_of("rbf", "linear", "poly", "sigmoid"),
        "probability": FLAG, "random_state": SEED, "tol": number(1e-9, 1)},
    "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": {"n_components": NONE | COUNT,
        "solver": one_of("svd", "lsqr",
        "eigen"), "shrinkage": one_of("auto", None) | FRACTION, "priors": NONE | many(FRACTION) | array("f", 1),
        "tol": FRACTION},
    "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis": {"reg_param": FRACTION, "tol": FRACTION},
    "sklearn.naive_bayes:GaussianNB": {"priors": NONE | many(FRACTION) | array("f", 1), "var_smoothing": FRACTION},
    "sklearn.naive_bayes:MultinomialNB": NAIVE,
    "sklearn.naive_bayes:BernoulliNB": NAIVE | {"binarize": NONE | FINITE},
    "sklearn.naive_bayes:ComplementNB": NAIVE | {"norm": FLAG},
    "sklearn.neighbors:KNeighborsClassifier": {"n_neighbors": COUNT, "weights": one_of("uniform", "distance"),
        "metric": one_of("minkowski", "euclidean", "manhattan", "cosine"), "p": number(1, 100), "leaf_size": COUNT,
        "algorithm": one_of("auto", "ball_tree", "kd_tree", "brute")},
    "sklearn.neural_network:MLPClassifier": {"hidden_layer_sizes": whole(1, 10_000) | many(whole(1, 10_000), 10),
        "activation": one_of("relu", "tanh", "logistic", "identity"), "alpha": POSITIVE, "max_iter": whole(1, 100_000),
        "learning_rate_init": number(1e-12, 1e3), "random_state": SEED, "early_stopping": FLAG,
        "solver": one_of("adam", "lbfgs", "sgd"), "tol": FRACTION, "warm_start": FLAG},
    "sklearn.tree:DecisionTreeClassifier": TREE | {"splitter": one_of("best", "random")},
    "sklearn.ensemble:RandomForestClassifier": FOREST | {"warm_start": FLAG},
    "sklearn.ensemble:ExtraTreesClassifier": FOREST | {"warm_start": FLAG},
    "sklearn.ensemble:GradientBoostingClassifier": {"learning_rate": POSITIVE, "max_depth": NONE | COUNT,
        "n_estimators": TREES,
        "random_state": SEED, "subsample": FRACTION},
    "sklearn.ensemble:HistGradientBoostingClassifier": {"learning_rate": POSITIVE, "max_iter": TREES,
        "random_state": SEED,
        "max_depth": NONE | COUNT, "max_leaf_nodes": NONE | COUNT, "min_samples_leaf": COUNT,
        "l2_regularization": POSITIVE,
        "class_weight": WEIGHTS, "max_bins": whole(2, 255), "early_stopping": FLAG | one_of("auto")},
    "sklearn.ensemble:AdaBoostClassifier": {"estimator": NONE | ESTIMATOR, "learning_rate": POSITIVE,
        "n_estimators": TREES,
        "random_state": SEED},
    "sklearn.ensemble:BaggingClassifier": {"estimator": NONE | ESTIMATOR, "n_estimators": TREES, "random_state": SEED,
        "max_samples": NONE | COUNT | FRACTION, "max_features": COUNT | FRACTION, "bootstrap": FLAG},
    "sklearn.ensemble:VotingClassifier": {"estimators": STEPS, "voting": one_of("hard", "soft"),
        "weights": NONE | many(POSITIVE)},
    "sklearn.calibration:CalibratedClassifierCV": {"estimator": NONE | ESTIMATOR, "method": one_of("sigmoid",
        "isotonic"),
        "cv": NONE | whole(2, 100), "ensemble": FLAG | one_of("auto")},
    "sklearn.dummy:DummyClassifier": {"strategy": one_of("prior", "most_frequent", "stratified", "uniform"),
        "random_state": SEED},
    # Steps before a classifier
    "sklearn.pipeline:Pipeline": {"steps": STEPS},
    "sklearn.compose:ColumnTransformer": {"transformers": many(rows(text(), ESTIMATOR | one_of("passthrough", "drop"),
        text(1000) | INDEX | many(text(1000) | INDEX, 100_000)), 100), "remainder": one_of("drop", "passthrough")},
    "sklearn.preprocessing:StandardScaler": {"with_mean": FLAG, "with_std": FLAG, "copy": FLAG},
    "sklearn.preprocessing:MinMaxScaler": {"feature_range": rows(FINITE, FINITE), "clip": FLAG, "copy": FLAG},
    "sklearn.preprocessing:MaxAbsScaler": {"copy": FLAG},
    "sklearn.preprocessing:RobustScaler": {"with_centering": FLAG, "with_scaling": FLAG, "copy": FLAG},
    "sklearn.preprocessing:Normalizer": {"norm": one_of("l1", "l2", "max"), "copy": FLAG},
    "sklearn.preprocessing:PowerTransformer": {"method": one_of("yeo-johnson", "box-cox"), "standardize": FLAG},
    "sklearn.preprocessing:QuantileTransformer": {"n_quantiles": whole(1, 100_000), "random_state": SEED,
        "output_distribution": one_of("uniform", "normal")},
    "sklearn.preprocessing:PolynomialFeatures": {"degree": whole(0, 5), "interaction_only": FLAG, "include_bias": FLAG},
    "sklearn.preprocessing:OneHotEncoder": {"handle_unknown": one_of("error", "ignore", "infrequent_if_exist", "warn"),
        "min_frequency": NONE | COUNT | FRACTION, "max_categories": NONE | COUNT, "sparse_output": FLAG},
    "sklearn.impute:SimpleImputer": {"strategy": one_of("mean", "median", "most_frequent", "constant"),
        "add_indicator": FLAG,
        "fill_value": NONE | FINITE | text()},
    "sklearn.decomposition:PCA": {"n_components": NONE | COUNT | FRACTION, "whiten": FLAG, "random_state": SEED},
    "sklearn.decomposition:TruncatedSVD": {"n_components": whole(1, 10_000), "n_iter": whole(0, 100),
        "random_state": SEED},
    "sklearn.feature_selection:SelectKBest": {"k": one_of("all") | COUNT,
        "score_func": named("chi2", "f_classif", "mutual_info_classif")},
    "sklearn.feature_selection:VarianceThreshold": {"threshold": POSITIVE},
    "sklearn.feature_extraction.text:CountVectorizer": WORDS,
    "sklearn.feature_extraction.text:TfidfVectorizer": WORDS | WEIGHED_WORDS,
    "sklearn.feature_extraction.text:TfidfTransformer": WEIGHED_WORDS,
    # Models and features of cusal
    "cusal.models:PoolClassifier": {"neighbours": whole(0, 1000), "smoothing": FRACTION, "C": number(1e-12, 1e12),
        "standardise": FLAG | one_of("auto")},
    "cusal.models:FewLabelClassifier": {"experts": NONE | many(text()), "features": one_of("auto", None) | ESTIMATOR,
        "classes": NONE | many(LABEL) | CLASSES, "random_share": FRACTION, "random_state": SEED},
    "cusal.models:Ensemble": {"model": ESTIMATOR, "members": whole(1, 1000), "random_state": SEED},
    "cusal.models:Uncalibrated": {"model": ESTIMATOR, "spread": POSITIVE, "random_state": SEED},
    "cusal.models:TorchClassifier": {"module": MODULE, "objective": made_of("cusal.models"), "pretrained": FLAG,
        "epochs": whole(0, 100_000), "batch_size": COUNT, "learning_rate": POSITIVE, "weight_decay": POSITIVE,
        "warm_start": FLAG, "device": NONE | text(), "precision": text(), "random_state": SEED},
    "cusal.models:CrossEntropy": {},
    "cusal.models:Augmented": {"operations": many(text()), "strengths": many(FRACTION), "copies": whole(0, 1000)},
    "cusal.models:Energy": {"energy_weight": POSITIVE, "energy_penalty": POSITIVE, "unlabelled_batch_size": COUNT,
        "sampling_steps": whole(0, 10_000), "step_size": POSITIVE, "sampling_noise": POSITIVE, "buffer_size": COUNT,
        "restart_rate": FRACTION},
    "cusal.features:TextFeatures": {"dense": FLAG, "components": whole(1, 10_000)},
    "cusal.features:TableFeatures": {"max_categories": whole(0, 1_000_000)},
    "cusal.recalibration:TemperatureScaled": {"model": ESTIMATOR, "random_state": SEED,
        "method": one_of("held-out", "cross-fit")},
}  # fmt: skip

NETWORK = {"classes": COUNT, "sample_dropout": FRACTION}
CONVOLUTION = {"in_channels": COUNT, "out_channels": COUNT, "groups": COUNT, "transposed": one_of(False),
               "kernel_size": SIDES, "stride": SIDES, "dilation": SIDES, "output_padding": SIDES,
               "padding": SIDES | one_of("same", "valid"), "_reversed_padding_repeated_twice": SIDES,
               "padding_mode": one_of("zeros", "reflect", "replicate", "circular")}  # fmt: skip
NORM = {
    "num_features": COUNT,
    "eps": POSITIVE,
    "momentum": NONE | FRACTION,
    "affine": FLAG,
    "track_running_stats": FLAG,
}
POOLING = {"kernel_size": SIDES, "stride": NONE | SIDES, "padding": SIDES, "ceil_mode": FLAG}
DROPOUT, IN_PLACE = {"p": FRACTION, "inplace": FLAG}, {"inplace": FLAG}

ATTRIBUTES: dict[str, dict[str, Kind]] = {
    # Folds of the items, of a model that is calibrated by copies; a session itself is plain values
    "cusal.recalibration.out_of_sample:OutOfSample": {"fold": table(INDEX, INDEX), "copies": table(LABEL, ANY)},
    # What was fitted of a network
    "cusal.models:TorchClassifier": {"module_": MODULE, "seed_": whole(0, 2**64), "item_shape_": many(COUNT),
        "classes_": CLASSES,
        "samples_": array("f"), "judge_": made_of("cusal.models:TorchClassifier"), "_pretrained": FLAG},
    "cusal.models:Ensemble": {"estimators_": many(ESTIMATOR), "classes_": CLASSES, "names_": CLASSES,
        "numbers_": CLASSES, "n_features_in_": INDEX},
    # Networks; their weights are tensors
    "cusal.models.networks:GarmentClassifier": NETWORK,
    "cusal.models.networks:MnistNet": NETWORK,
    "cusal.models.networks:SmallNet": NETWORK,
    "cusal.models.networks:SmallResNet": NETWORK,
    "cusal.models.networks:ResNet18": NETWORK,
    "cusal.models.networks:ResNet50": NETWORK,
    "cusal.models.networks._residual:BasicBlock": {},
    "cusal.models.networks._residual:Bottleneck": {},
    "torch.nn:Sequential": {},
    "torch.nn:ModuleList": {},
    "torch.nn:Identity": {},
    "torch.nn:Linear": {"in_features": COUNT, "out_features": COUNT},
    "torch.nn:Embedding": {"num_embeddings": COUNT, "embedding_dim": COUNT, "padding_idx": NONE | INDEX,
        "max_norm": NONE | POSITIVE,
        "norm_type": POSITIVE, "scale_grad_by_freq": FLAG, "sparse": FLAG},
    "torch.nn:Conv1d": CONVOLUTION,
    "torch.nn:Conv2d": CONVOLUTION,
    "torch.nn:BatchNorm1d": NORM,
    "torch.nn:BatchNorm2d": NORM,
    "torch.nn:LayerNorm": {"normalized_shape": many(COUNT, 6), "eps": POSITIVE, "elementwise_affine": FLAG},
    "torch.nn:GroupNorm": {"num_groups": COUNT, "num_channels": COUNT, "eps": POSITIVE, "affine": FLAG},
    "torch.nn:MaxPool1d": POOLING | {"dilation": SIDES, "return_indices": one_of(False)},
    "torch.nn:MaxPool2d": POOLING | {"dilation": SIDES, "return_indices": one_of(False)},
    "torch.nn:AvgPool1d": POOLING | {"count_include_pad": FLAG},
    "torch.nn:AvgPool2d": POOLING | {"count_include_pad": FLAG, "divisor_override": NONE | COUNT},
    "torch.nn:AdaptiveAvgPool1d": {"output_size": SIDES},
    "torch.nn:AdaptiveAvgPool2d": {"output_size": SIDES},
    "torch.nn:Dropout": DROPOUT,
    "torch.nn:Dropout1d": DROPOUT,
    "torch.nn:Dropout2d": DROPOUT,
    "torch.nn:ReLU": IN_PLACE,
    "torch.nn:SiLU": IN_PLACE,
    "torch.nn:LeakyReLU": IN_PLACE | {"negative_slope": FINITE},
    "torch.nn:ELU": IN_PLACE | {"alpha": FINITE},
    "torch.nn:GELU": {"approximate": one_of("none", "tanh")},
    "torch.nn:Tanh": {},
    "torch.nn:Sigmoid": {},
    "torch.nn:Softplus": {"beta": POSITIVE, "threshold": POSITIVE},
    "torch.nn:Flatten": {"start_dim": whole(-10, 10), "end_dim": whole(-10, 10)},
    "torch.nn:Unflatten": {"dim": whole(-10, 10), "unflattened_size": many(COUNT, 6)},
}  # fmt: skip

# Types and functions that a setting may be, by the names that stand for them in a file.
NAMES = {"float32": "numpy", "float64": "numpy", "int64": "numpy", "chi2": "sklearn.feature_selection",
         "f_classif": "sklearn.feature_selection", "mutual_info_classif": "sklearn.feature_selection"}  # fmt: skip
STRATEGY = NONE | FLAG | number(-1e9, 1e9) | text() | one_of(math.inf)  # a setting of a strategy of cusal

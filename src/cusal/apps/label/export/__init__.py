"""Exports of a labelling project: labels, predictions of everything else, a model file with its card, new data.

write, formats      labels with who and when, predictions, copies of images, tasks for Label Studio
project_model       the model of a project; `cusal.deploy` holds its parts
model_file, card    the model in one file without pickle, and what to know about it
predict             the model applied to new data
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

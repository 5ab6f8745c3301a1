"""Audits in the browser: people check given predictions in the order of `cusal.Audit`.

beginning    the first and only round: the predictions, the audit with its order, and the queue
checking     the audit with what people have answered so far
in_figures   what it says, as the pages show it
"""

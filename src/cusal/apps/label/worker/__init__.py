"""The worker of a labelling project: a process of its own that computes vectors, fits the model and fills the queue.

It talks to the server through the project's database alone. `python -m cusal.apps.label.worker PLACE` starts it.

    parent, background        the process: ends with its parent; one thread for what takes long
    pool, vectors             the items that the model chooses among, and their vectors as they come
    learning, reasons, report the session: what it is told, asked and says, round by round
    saved                     what is kept of it, so that a killed worker continues where it was
"""

"""The options of `cusal labelstudio`. What is heavy is imported by the command itself."""

from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    """Add the commands that work with other tools to the command line."""
    app.command()(labelstudio)


def labelstudio(
    project: Annotated[int, typer.Option(help="The number in the address of the project's page.", min=1)],
    url: Annotated[
        str | None, typer.Option(help="Of the server. By default LABEL_STUDIO_URL, or http://localhost:8080.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="A personal access token or legacy token. Better in LABEL_STUDIO_API_KEY.")
    ] = None,
    every: Annotated[
        float | None, typer.Option(help="Keep looking for new labels, every so many seconds, until Ctrl-C.", min=1)
    ] = None,
    choices: Annotated[str | None, typer.Option(help="The name of the tag <Choices>, if there are several.")] = None,
    features: Annotated[str | None, typer.Option(help="Of texts: minilm or tfidf. By default the better one.")] = None,
    model: Annotated[str | None, typer.Option(help="Such as sklearn.linear_model:LogisticRegression.")] = None,
    strategy: Annotated[str, typer.Option(help="See cusal strategies.")] = "diverse_margin",
    batch: Annotated[int, typer.Option(help="How many tasks to choose as one batch.", min=1)] = 10,
    most: Annotated[int, typer.Option(help="How many tasks get a prediction; the others come after.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="For everything that is drawn.", min=0)] = 0,
) -> None:
    """Make Label Studio serve the tasks that cusal would ask next, learning from the labels given there.

    Example: cusal labelstudio --project 7 --every 30

    It sets the order of tasks to uncertainty sampling, and pushes predictions with scores.

    In Python: project = cusal.adapters.LabelStudioProject(7); project.push(project.session())
    """
    from cusal.adapters._label_studio_command import Request, run
    from cusal.adapters.label_studio import LabelStudioProject

    chosen = LabelStudioProject(project, url, token=token, choices=choices)
    raise typer.Exit(run(chosen, Request(model, strategy, features, batch, most, seed), every))

"""The applications, which import public names alone: experiments (`cusal bench`), the labelling app (`cusal label`)."""

__all__: list[str] = []

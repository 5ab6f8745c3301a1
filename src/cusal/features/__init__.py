"""Items as vectors: computed once, kept on disk.

`images` turns images into the features of a pretrained network, `cache` keeps them.
"""

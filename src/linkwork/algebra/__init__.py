"""The language of the physics over any number: planar and spatial with the same verbs."""

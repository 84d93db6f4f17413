"""The railway (Flatland): what Skyrail adds to flatland-rl.

`skyrail.rail.effects`
    effects of our own that flatland-rl can run, `TrackClosures`; needs flatland-rl.

Importing the package imports none of them.
"""

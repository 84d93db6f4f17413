// Package picture draws episodes of the Flight Challenge: what a teacher puts on a slide.
//
// A [Film] is one flown episode. [Record] makes it by flying recorded actions again and keeping each moment;
// [FormatOf] tells the format from the name of a file; [Write] draws one film, or several to compare.
//
//	film, err := picture.Record(flight.DefaultConfig(), seed, actions, "rule-based")
//	…
//	err = picture.Write(file, picture.PNG, []picture.Film{idle, film})
//
// An SVG or a PNG is a strip of at most five moments, one row a film, the same moments in every row; under each
// row the whole episode is a line. A GIF is an animation, one panel a film side by side, one frame a step. An
// episode that has ended before a moment shows its last one and says so.
//
// The package hides how a sector becomes a picture: which moments tell the story, when a ring is solid, where
// labels go when aircraft meet, and how a few colours make a small animation. A ring is solid exactly when the
// engine counts its aircraft as having lost separation. Level and speed are marked where they differ from those
// the aircraft entered with.
//
// The same films make the same bytes. An SVG is the same on every platform; the pixels of a PNG or a GIF are
// those of one platform, as the library that fills shapes may round differently elsewhere.
//
// It does not fly agents (package flight/contest records their actions), rank them, or open files.
package picture

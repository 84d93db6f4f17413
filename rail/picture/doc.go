// Package picture draws episodes of the railway: for dispatchers who read them, and for teams who look for what went
// wrong.
//
// A [Recording] is an episode, or a part of it: [New] begins it with an environment, and [Recording.Record] keeps what
// each step made of the trains. [FormatOf] tells the format from the name of a file, [Write] draws.
//
//	rec := picture.New(env)
//	for !env.AllDone() {
//		…
//		if err := env.Step(actions); err != nil {…}
//		if err := rec.Record(env); err != nil {…}
//	}
//	err := picture.Write(file, picture.HTML, rec, picture.Options{Title: "level 3", Selected: []int{12}})
//
// An SVG or a PNG is one step. A GIF is an animation, one frame a step. An HTML file is a page that plays the steps in a
// browser: it takes nothing from outside, so it can be mailed, and stays at a few megabytes for the largest episodes.
//
// On the largest maps the numbers of trains are too small for a picture of one step. A [Region] is a part of the map, drawn
// larger, see [ParseRegion].
//
// A train is a wedge in its cell, further on the more of the cell it has travelled; its colour is its state. Between the
// starts, stops and targets of all trains, those of the selected ones stand out. A train that is ready to enter waits as
// an empty wedge on its start. Framed trains are deadlocked, see [rail.Env.Deadlocked].
//
// The package hides how a cell's transitions become rails, where on a curve a train is, and how a page holds an episode
// in little room. It does not run agents, and opens no files.
package picture

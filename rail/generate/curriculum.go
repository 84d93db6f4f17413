package generate

import (
	"fmt"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Curriculum is a row of lessons on the competition's map, from few trains in one region to many on all of it: that of
// the starter kit of ECML 2026.
type Curriculum struct {
	Stations    *railfile.Stations
	LineLengths []int
	Trains      []TrainRange
	Scenes      []string
}

// TrainRange is a number of trains to be drawn: Low included, High not.
type TrainRange struct{ Low, High int }

// DefaultCurriculum is the published one of 27 lessons.
func DefaultCurriculum(stations *railfile.Stations) Curriculum {
	return Curriculum{
		Stations: stations, LineLengths: []int{2, 3, 4}, Trains: []TrainRange{{1, 2}, {10, 11}, {25, 26}},
		Scenes: []string{"scene_1", "scene_4", "scene_5"},
	}
}

// Lesson is an environment of a curriculum that is still to be made.
type Lesson struct {
	Sampling
	Number int
	Trains int
}

// Name is the name of the lesson's file without its suffix, such as 00_scene_1_ll-2_a-1.
func (l *Lesson) Name() string {
	return fmt.Sprintf("%02d_%s_ll-%d_a-%d", l.Number, l.Scene, l.LineLength, l.Trains)
}

// Lessons are the lessons of a curriculum, in their order: by line length, then trains, then scenes. Each draws its
// number of trains from NumPy's global generator, if there is a choice.
func (c Curriculum) Lessons(global *numpyrand.RandomState) ([]Lesson, error) {
	var lessons []Lesson
	for _, length := range c.LineLengths {
		for _, n := range c.Trains {
			if n.Low < 1 || n.High <= n.Low || n.High > maxTrains {
				return nil, &ParameterError{"number of trains", fmt.Sprintf("[%d, %d)", n.Low, n.High), fmt.Sprintf("want at least 1, and less than %d", maxTrains)}
			}
			for _, scene := range c.Scenes {
				lessons = append(lessons, Lesson{
					Sampling: Sampling{Stations: c.Stations, Scene: scene, LineLength: length},
					Number:   len(lessons), Trains: int(global.Randint(int64(n.Low), int64(n.High))),
				})
			}
		}
	}
	return lessons, nil
}

// Environment makes the lesson of an environment as it was loaded. Without a seed its stream goes on, so that all
// lessons of one file begin with the same random numbers (quirk).
func (l *Lesson) Environment(e *rail.Env, seed *uint64) (*rail.Env, error) {
	return l.Sample(e, l.Trains, seed)
}

package railfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
)

// TestGoldenAuxiliary reads the generators' products and shows them in the form of the recorded dumps.
func TestGoldenAuxiliary(t *testing.T) {
	for name, read := range map[string]func([]byte) (any, error){
		"auxiliary/stations.pkl": func(b []byte) (any, error) {
			s, err := ReadStations(b)
			if err != nil {
				return nil, err
			}
			out := stationsDump(s)
			out["level_free_positions"] = map[string]any{"$set": cellsDump(sortedCells(s.LevelFree))}
			out["scenes_with_station"] = s.Scenes
			return out, nil
		},
		"auxiliary/position_to_latlon_olten.pkl": func(b []byte) (any, error) {
			all, err := ReadCoordinates(b)
			if err != nil {
				return nil, err
			}
			entries := map[string]any{}
			for c, place := range all {
				entries[fmt.Sprint(c)] = tupleDump(place[0], place[1])
			}
			return entries, nil
		},
		"generated/line.pkl": func(b []byte) (any, error) {
			p, err := ReadLineProduct(b)
			if err != nil {
				return nil, err
			}
			trains, speeds := []any{}, []any{}
			for i, train := range p.Stops {
				stops := []any{}
				for _, stop := range train {
					alternatives := []any{}
					for _, a := range stop {
						alternatives = append(alternatives, place(a))
					}
					stops = append(stops, alternatives)
				}
				trains = append(trains, []any{i, stops})
			}
			for _, f := range p.Speeds {
				speeds = append(speeds, f.String())
			}
			return []any{trains, speeds}, nil
		},
		"generated/timetable.pkl": func(b []byte) (any, error) {
			p, err := ReadTimetableProduct(b)
			if err != nil {
				return nil, err
			}
			return map[string]any{"$obj": "flatland.envs.timetable_utils.Timetable", "args": []any{
				timesDump(p.EarliestDepartures), timesDump(p.LatestArrivals), p.MaxEpisodeSteps,
			}}, nil
		},
		"generated/rail_product.pkl": func(b []byte) (any, error) {
			p, err := ReadRailProduct(b)
			if err != nil {
				return nil, err
			}
			var grid []any
			for row := range p.Height {
				grid = append(grid, p.Grid[row*p.Width:(row+1)*p.Width])
			}
			return map[string]any{"grid": grid, "hints": map[string]any{
				"agents_hints": stationsDump(&p.Stations), "level_free_positions": map[string]any{"$set": cellsDump(sortedCells(p.LevelFree))},
			}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			file, dump := golden.Read(t, "testdata/files/"+name+".gz"), golden.Read(t, "testdata/files/"+name+".json.gz")
			check := func(dump []byte) error {
				var want struct {
					Container string `json:"container"`
					Value     any    `json:"value"`
				}
				if err := json.Unmarshal(dump, &want); err != nil {
					return err
				}
				read, err := read(file)
				if err != nil {
					return err
				}
				got, expected := string(encode(read)), string(encode(simplified(name, want.Value)))
				if got != expected || want.Container != "pickle" {
					return fmt.Errorf("got %.500s, want %.500s", got, expected)
				}
				return nil
			}
			// A speed of a line is snapped, so that a small change of the float is none.
			speed := func(path string) bool {
				return strings.HasSuffix(name, "line.pkl") && strings.HasPrefix(path, "value.args.1.")
			}
			golden.Mutate(t, dump, 40, speed, check)
		})
	}
}

// simplified is a dump with NumPy's numbers as plain ones, and for lines and coordinates in the form of the test.
func simplified(name string, v any) any {
	v = plainNumbers(v)
	m, _ := v.(map[string]any)
	switch {
	case strings.HasSuffix(name, "line.pkl"):
		return lineDump(v)
	case strings.HasSuffix(name, "olten.pkl"):
		entries := map[string]any{}
		for _, e := range m["$dict"].([]any) {
			pair := e.([]any)
			cell := pair[0].(map[string]any)["$tuple"].([]any)
			entries[fmt.Sprintf("(%v, %v)", cell[0], cell[1])] = pair[1]
		}
		return entries
	}
	return v
}

// lineDump takes the waypoints and speeds out of a dumped Line. What is not of its form stays, and so differs.
func lineDump(v any) any {
	object := v.(map[string]any)
	args := object["args"].([]any)
	if object["$obj"] != "flatland.envs.timetable_utils.Line" {
		return v
	}
	trains := args[0].(map[string]any)["$dict"].([]any)
	for _, train := range trains {
		for _, stop := range train.([]any)[1].([]any) {
			alternatives := stop.([]any)
			for k, a := range alternatives {
				w := a.(map[string]any)
				state := w["state"].(map[string]any)
				if w["$obj"] != "flatland.envs.rail_trainrun_data_structures.Waypoint" {
					continue
				}
				alternatives[k] = []any{state["position"].(map[string]any)["$tuple"], state["direction"]}
			}
		}
	}
	speeds := args[1].([]any)
	for i, v := range speeds {
		if f, err := rail.Snap(v.(float64)); err == nil {
			speeds[i] = f.String()
		}
	}
	return []any{trains, speeds}
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if n, ok := v["$np"]; ok && n == "<i8" {
			return v["value"]
		}
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	}
	return v
}

func tupleDump(items ...any) any { return map[string]any{"$tuple": items} }

// sortedCells are in the order of the dump, which sorts by text.
func sortedCells(cells []rail.Cell) []rail.Cell {
	return slices.SortedFunc(slices.Values(cells), func(a, b rail.Cell) int {
		return cmp.Compare(fmt.Sprintf("[%d,%d", a.Row, a.Col), fmt.Sprintf("[%d,%d", b.Row, b.Col))
	})
}

func cellsDump(cells []rail.Cell) []any {
	all := []any{}
	for _, c := range cells {
		all = append(all, tupleDump(c.Row, c.Col))
	}
	return all
}

func stationsDump(s *Stations) map[string]any {
	headings, cities := []any{}, []any{}
	for _, h := range s.Orientations {
		headings = append(headings, map[string]any{"$obj": "flatland.core.grid.grid4.Grid4TransitionsEnum", "args": []any{int(h)}})
	}
	for _, tracks := range s.Tracks {
		city := []any{}
		for _, track := range tracks {
			city = append(city, tupleDump(tupleDump(track.Row, track.Col), track.Track))
		}
		cities = append(cities, city)
	}
	return map[string]any{"city_positions": cellsDump(s.Cities), "city_orientations": headings, "train_stations": cities}
}

func timesDump(trains [][]rail.Time) []any {
	all := []any{}
	for _, times := range trains {
		train := []any{}
		for _, v := range times {
			train = append(train, optionalStep(v))
		}
		all = append(all, train)
	}
	return all
}

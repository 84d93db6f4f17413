package railfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// CheckEpisodeID says whether an episode's name can be part of a file name on every platform, which keeps a foreign one
// inside its directory.
func CheckEpisodeID(id string) error {
	const most = 200
	switch {
	case id == "" || len(id) > most:
		return fmt.Errorf("an episode id has 1 to %d bytes, not %d", most, len(id))
	case strings.ContainsAny(id, `/\:`) || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }):
		return fmt.Errorf("episode id %s has a character that no file name may have", quote(id))
	case id[0] == '.' || !filepath.IsLocal(id+".pkl"):
		return fmt.Errorf("episode id %s cannot be part of a file name", quote(id))
	}
	return nil
}

// EnvironmentFile is the name inside the directory of the environment before the first step of an episode.
func EnvironmentFile(episode string) (string, error) {
	if err := CheckEpisodeID(episode); err != nil {
		return "", err
	}
	return path.Join(serialisedState, episode+".pkl"), nil
}

// SnapshotFile is the name inside the directory of the environment after some steps of an episode.
func SnapshotFile(episode string, step int) (string, error) {
	if step < 0 {
		return "", fmt.Errorf("a snapshot of step %d", step)
	}
	return EnvironmentFile(fmt.Sprintf("%s_step%04d", episode, step))
}

// Environment reads the file of the environment before the first step of an episode, for [ReadEnvironment]. It may be no
// longer than tables may.
func (d *TrajectoryDir) Environment(episode string) ([]byte, error) {
	name, err := EnvironmentFile(episode)
	if err != nil {
		return nil, err
	}
	return d.readFile(name)
}

// Snapshot reads the file of the environment after some steps of an episode.
func (d *TrajectoryDir) Snapshot(episode string, step int) ([]byte, error) {
	name, err := SnapshotFile(episode, step)
	if err != nil {
		return nil, err
	}
	return d.readFile(name)
}

func (d *TrajectoryDir) readFile(name string) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limit, size := d.limits().FileBytes, int64(0)
	if plain, ok := f.(*os.File); ok {
		if info, err := plain.Stat(); err == nil {
			size = min(info.Size(), limit)
		}
	}
	content := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err = content.ReadFrom(&capped{f, limit, limit})
	return content.Bytes(), err
}

// Snapshots are the steps of an episode of which there is a snapshot, ascending.
func (d *TrajectoryDir) Snapshots(episode string) ([]int, error) {
	if err := CheckEpisodeID(episode); err != nil {
		return nil, err
	}
	names, err := d.environments()
	if err != nil {
		return nil, err
	}
	var steps []int
	for _, name := range names {
		if of, step, ok := cutStep(name); ok && of == episode {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps), nil
}

// Episodes are the names of all episodes of which the directory has an environment or a row, ascending.
func (d *TrajectoryDir) Episodes() ([]string, error) {
	episodes := make(map[string]bool)
	names, err := d.environments()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, _, ok := cutStep(name); !ok {
			episodes[name] = true
		}
	}
	for _, file := range []string{ActionsFile, PositionsFile, ArrivedFile, RewardsFile} {
		last := ""
		for episode, err := range rows(d, file, actionColumns[:1], func(p *rowParser, c [][]byte) string { return p.episode(c[0]) }) {
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if err != nil {
				return nil, err
			}
			if episode != last {
				episodes[episode], last = true, episode
			}
		}
	}
	all := make([]string, 0, len(episodes))
	for e := range episodes {
		all = append(all, e)
	}
	slices.Sort(all)
	return all, nil
}

// environments are the names of the serialised environments, without suffix.
func (d *TrajectoryDir) environments() ([]string, error) {
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), serialisedState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".pkl"); ok && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// cutStep parts the name of a snapshot into episode and step; four digits or, from 10000 on, more without a leading zero.
func cutStep(name string) (episode string, step int, ok bool) {
	at := strings.LastIndex(name, "_step")
	if at <= 0 {
		return "", 0, false
	}
	digits := name[at+len("_step"):]
	step, err := parseInt([]byte(digits))
	if err != nil || fmt.Sprintf("%04d", step) != digits {
		return "", 0, false
	}
	return name[:at], step, true
}

// Environments are the episodes of which the directory has the environment before the first step, ascending.
func (d *TrajectoryDir) Environments() ([]string, error) {
	names, err := d.environments()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range names {
		if _, _, snapshot := cutStep(name); !snapshot {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

package railfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// TrajectoryWriter writes the tables of a directory, a row at a time and byte for byte as flatland-rl 4.2.5 writes them.
// The files appear at [TrajectoryWriter.Commit], each whole or not at all; one that is neither committed nor aborted
// leaves temporary files behind.
//
// The first error stays: it is returned by every later call.
type TrajectoryWriter struct {
	actions *tableFile
	places  *tableFile
	arrived *tableFile
	rewards *tableFile
	row     []byte
	form    RewardForm
	given   bool // there is a reward, of this form
	decimal bool // one of the rewards of one number is a decimal
	err     error
}

// CreateTrajectory begins to write into a directory, which is made if it is not there. It must not have a row yet, not
// of another episode either.
func CreateTrajectory(dir string) (*TrajectoryWriter, error) {
	d := TrajectoryDir{Path: dir}
	for _, sub := range []string{eventLogs, serialisedState, outputs} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	w := &TrajectoryWriter{}
	for _, t := range []struct {
		to      **tableFile
		name    string
		columns []column
	}{
		{&w.actions, ActionsFile, actionColumns}, {&w.places, PositionsFile, positionColumns},
		{&w.arrived, ArrivedFile, arrivedColumns}, {&w.rewards, RewardsFile, rewardColumns},
	} {
		if err := d.checkEmpty(t.name); err != nil {
			w.Abort()
			return nil, err
		}
		f, err := createTable(filepath.Join(dir, filepath.FromSlash(t.name)), t.columns)
		if err != nil {
			w.Abort()
			return nil, err
		}
		*t.to = f
	}
	return w, nil
}

// checkEmpty says what is wrong with a table of a directory into which a run is to be written.
func (d *TrajectoryDir) checkEmpty(name string) error {
	for _, err := range rows(d, name, nil, func(*rowParser, [][]byte) error { return nil }) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("%s already has rows; write into another directory", filepath.Join(d.Path, filepath.FromSlash(name)))
	}
	return nil
}

// Action writes a row; its line number does not count.
func (w *TrajectoryWriter) Action(r ActionRow) error {
	b := w.begin(r.Episode, r.Time)
	b = WholeNumber(r.Agent).append(b)
	b = append(b, '\t')
	if r.Unknown {
		b = appendCell(b, r.Text, '\t')
	} else {
		b = WholeNumber(int(r.Action)).append(b)
	}
	return w.put(w.actions, b)
}

// Position writes a row; its line number does not count.
func (w *TrajectoryWriter) Position(r PositionRow) error {
	b := w.begin(r.Episode, r.Time)
	b = WholeNumber(r.Agent).append(b)
	b = append(b, '\t')
	return w.put(w.places, appendPosition(b, r.At))
}

// Arrived writes a row; its line number does not count.
func (w *TrajectoryWriter) Arrived(r ArrivedRow) error {
	b := w.begin(r.Episode, r.Time)
	b = r.SuccessRate.append(b)
	b = append(b, '\t')
	if r.Given {
		b = r.Normalized.append(b)
	}
	return w.put(w.arrived, b)
}

// Reward writes a row; its line number does not count. All rewards must be of one form.
//
// quirk: rewards of one number are written without a decimal point only if all of the table are whole, and otherwise
// all with one. That is known at the end, so whole numbers are written as decimals and at Commit, if no decimal came, once
// more.
func (w *TrajectoryWriter) Reward(r RewardRow) error {
	if w.given && r.Reward.Form != w.form && w.err == nil {
		w.err = fmt.Errorf("reward %s of train %d at %d is of another form than those before", r.Reward, r.Agent, r.Time)
	}
	w.given, w.form = true, r.Reward.Form
	if r.Reward.Form == NumberReward && !r.Reward.Values[0].Whole {
		w.decimal = true
	}
	return w.put(w.rewards, appendRewardRow(w.begin(r.Episode, r.Time), r, true))
}

func appendRewardRow(b []byte, r RewardRow, decimal bool) []byte {
	b = WholeNumber(r.Agent).append(b)
	b = append(b, '\t')
	if r.Reward.Form == NumberReward {
		b = Number{r.Reward.Values[0].Value, !decimal}.append(b)
	} else {
		b = appendCell(b, r.Reward.String(), '\t')
	}
	b = append(b, '\t')
	b = r.Info.append(b, appendState)
	b = append(b, '\t')
	return appendBool(b, r.Done)
}

// begin starts a row with the cells that all have.
func (w *TrajectoryWriter) begin(episode string, time int) []byte {
	return appendRowStart(w.row[:0], episode, time)
}

func appendRowStart(b []byte, episode string, time int) []byte {
	b = appendCell(b, episode, '\t')
	b = append(b, '\t')
	b = WholeNumber(time).append(b)
	return append(b, '\t')
}

func (w *TrajectoryWriter) put(f *tableFile, row []byte) error {
	w.row = append(row, '\n')
	if w.err == nil {
		_, w.err = f.Write(w.row)
	}
	return w.err
}

// Commit puts the tables into their places. After an error the writer is to be aborted.
func (w *TrajectoryWriter) Commit() error {
	if w.err == nil && w.given && w.form == NumberReward && !w.decimal {
		w.err = w.makeWhole()
	}
	for _, f := range []*tableFile{w.actions, w.places, w.arrived, w.rewards} {
		if w.err == nil {
			w.err = f.commit()
		}
	}
	return w.err
}

// makeWhole writes the table of rewards again, with whole numbers.
func (w *TrajectoryWriter) makeWhole() error {
	old := w.rewards
	f, err := createTable(old.name, rewardColumns)
	if err != nil {
		return err
	}
	w.rewards = f
	defer old.abort()
	if err := old.Flush(); err != nil {
		return err
	}
	if _, err := old.temp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	limits := TableLimits{FileBytes: math.MaxInt64 - 1, LineBytes: 1 << 20, Rows: math.MaxInt}
	for r, err := range rowsOf(old.name, old.temp, limits, rewardColumns, rewardRow) {
		if err != nil {
			return err
		}
		b := appendRowStart(w.row[:0], r.Episode, r.Time)
		w.row = append(appendRewardRow(b, r, false), '\n')
		if _, err := w.rewards.Write(w.row); err != nil {
			return err
		}
	}
	return nil
}

// Abort throws away what was written. After Commit it does nothing.
func (w *TrajectoryWriter) Abort() {
	for _, f := range []*tableFile{w.actions, w.places, w.arrived, w.rewards} {
		if f != nil {
			f.abort()
		}
	}
}

// tableFile is a file that appears when it is complete.
type tableFile struct {
	*bufio.Writer
	temp *os.File // nil when it is done
	name string
}

func createTable(name string, columns []column) (*tableFile, error) {
	f, err := createFile(name)
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		if i > 0 {
			f.WriteByte('\t')
		}
		f.WriteString(c.name)
	}
	f.WriteByte('\n')
	return f, nil
}

func createFile(name string) (*tableFile, error) {
	temp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	return &tableFile{bufio.NewWriterSize(temp, 64<<10), temp, name}, nil
}

func (f *tableFile) commit() (err error) {
	if f.temp == nil {
		return nil
	}
	defer func() {
		if err != nil {
			f.abort()
			err = fmt.Errorf("write %s: %w", f.name, err)
		}
	}()
	if err = f.Flush(); err != nil {
		return err
	}
	if err = f.temp.Chmod(0o644); err != nil {
		return err
	}
	if err = f.temp.Sync(); err != nil {
		return err
	}
	if err = f.temp.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.temp.Name(), f.name); err != nil {
		return err
	}
	f.temp = nil
	return nil
}

func (f *tableFile) abort() {
	if f.temp != nil {
		f.temp.Close()
		os.Remove(f.temp.Name())
		f.temp = nil
	}
}

package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skyrail/flight"
	"skyrail/internal/golden"
)

// Fixtures are made by testdata/make_fixtures.py with the real Stable-Baselines3; see testdata/README.md.

// models returns the names of the native models.
func models(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.recording.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d recordings, %v", len(files), err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".recording.gz")
	}
	return files
}

func open(t testing.TB, model string) *Policy {
	t.Helper()
	p, err := Open("testdata/" + model + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func floats(data []byte) []float32 {
	values := make([]float32, len(data)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return values
}

// observations returns the recorded observations.
func observations(t testing.TB) [][]float32 {
	t.Helper()
	all := slices.Collect(slices.Chunk(floats(golden.Read(t, "testdata/observations.gz")), flight.DefaultConfig().ObservationLen()))
	if len(all) < 300 {
		t.Fatalf("got %d observations, want at least 300", len(all))
	}
	return all
}

// recording is what Stable-Baselines3 answered to the observations.
type recording struct {
	actions       []byte
	probabilities [][]float32 // none for DQN
}

func readRecording(t testing.TB, model string, observations int) recording {
	t.Helper()
	data := golden.Read(t, "testdata/"+model+".recording.gz")
	r := recording{actions: data[:observations]}
	r.probabilities = slices.Collect(slices.Chunk(floats(data[observations:]), flight.DefaultConfig().Actions()))
	return r
}

// refused returns the checkpoints that need Stable-Baselines3, by name.
func refused(t testing.TB) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile("testdata/refused.zip")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for name, content := range unzip(t, data) {
		all[strings.TrimSuffix(name, ".zip")] = content
	}
	return all
}

func unzip(t testing.TB, data []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// pack makes a zip, the same bytes each time; a nil content leaves the file out.
func pack(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		if content == nil {
			continue
		}
		method := zip.Store
		if len(content) > 100_000 {
			method = zip.Deflate
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// forgery is a checkpoint to be changed and packed again.
type forgery struct {
	t     testing.TB
	files map[string][]byte // of policy.zip
	torch map[string][]byte // of policy.pth, without the folder
	data  map[string]any
}

func forge(t testing.TB, model string) *forgery {
	t.Helper()
	whole, err := os.ReadFile("testdata/" + model + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	f := &forgery{t: t, files: unzip(t, whole), torch: map[string][]byte{}}
	for name, content := range unzip(t, f.files[weightsFile]) {
		f.torch[strings.TrimPrefix(name, "archive/")] = content
	}
	if err := json.Unmarshal(f.files[dataFile], &f.data); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *forgery) pack() []byte {
	f.t.Helper()
	data, err := json.Marshal(f.data)
	if err != nil {
		f.t.Fatal(err)
	}
	if f.files[dataFile] != nil {
		f.files[dataFile] = data
	}
	if f.files[weightsFile] != nil && f.torch != nil {
		torch := map[string][]byte{}
		for name, content := range f.torch {
			torch["archive/"+name] = content
		}
		f.files[weightsFile] = pack(f.t, torch)
	}
	return pack(f.t, f.files)
}

// replace changes bytes of data.pkl that occur once.
func (f *forgery) replace(old, with string) {
	f.t.Helper()
	if n := bytes.Count(f.torch["data.pkl"], []byte(old)); n != 1 {
		f.t.Fatalf("%q is there %d times, want once", old, n)
	}
	f.torch["data.pkl"] = bytes.Replace(f.torch["data.pkl"], []byte(old), []byte(with), 1)
}

func (f *forgery) object(name string) map[string]any { return f.data[name].(map[string]any) }

func read(data []byte) (*Policy, error) { return Read(bytes.NewReader(data), int64(len(data))) }

package patient

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

var errHeld, errOther = errors.New("held"), errors.New("other")

// A step is retried only while another program has the file open, for a limited time, and not if a directory is in the way.
func TestTry_WaitsForWhatIsHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Write(t, file, "")
	for name, c := range map[string]struct {
		errs  []error // of the steps; the last one is that of all that follow
		paths []string
		want  error
		steps int
	}{
		"success":                 {[]error{nil}, nil, nil, 1},
		"another error":           {[]error{errOther}, nil, errOther, 1},
		"held for a moment":       {[]error{errHeld, errHeld, nil}, nil, nil, 3},
		"held, then another one":  {[]error{errHeld, errOther}, nil, errOther, 2},
		"held for ever":           {[]error{errHeld}, nil, errHeld, 12},
		"held by a directory":     {[]error{errHeld}, []string{dir}, errHeld, 1},
		"a file is in the way":    {[]error{errHeld, nil}, []string{file}, nil, 2},
		"nothing is in the place": {[]error{errHeld, nil}, []string{file + "2"}, nil, 2},
	} {
		steps := 0
		var waited time.Duration
		err := try(func() error {
			err := c.errs[min(steps, len(c.errs)-1)]
			steps++
			return err
		}, func(err error) bool { return errors.Is(err, errHeld) }, c.paths, func(d time.Duration) { waited += d })
		must.Equal(t, errors.Is(err, c.want), true, name, err)
		must.Equal(t, errors.Is(err, ErrHeld), name == "held for ever", name, err)
		must.Equal(t, steps, c.steps, name)
		if waited > 3*time.Second {
			t.Errorf("%s: waited for %s", name, waited)
		}
	}
}

func TestRename_DoesWhatPackageOSDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	must.Write(t, a, "new")
	must.Write(t, b, "old")
	must.Succeed(t, Rename(a, b))
	file := must.Get(Open(b, 0))(t)
	must.Succeed(t, file.Close())
	must.Fail(t, Rename(a, b), os.ErrNotExist)
	must.Refuse(OpenRegular(dir))(t)
	must.Succeed(t, Remove(b))
	must.Fail(t, must.ErrorOf(OpenRegular(b)), os.ErrNotExist)
	must.Succeed(t, RemoveAll(dir))
}

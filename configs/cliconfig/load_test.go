package cliconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	rc := filepath.Join(dir, "rc")
	big := filepath.Join(dir, "big")
	for path, content := range map[string]string{
		rc:  "host \"a.com\" { services = { \"providers.v1\" = \"/p/\" } }\nhost = 1\n",
		big: strings.Repeat("# much too long\n", maxBytes/10),
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("no file", func(t *testing.T) {
		config, problems := Load("")
		if config == nil || len(config.Hosts) > 0 || len(problems) > 0 {
			t.Errorf("got %+v, %+v", config, problems)
		}
	})
	t.Run("missing file", func(t *testing.T) {
		path := filepath.Join(dir, "missing")
		config, problems := Load(path)
		if config == nil || len(problems) != 1 || !problems[0].Warning || problems[0].File != path ||
			problems[0].Summary != "Unable to open CLI configuration file" || !strings.Contains(problems[0].Detail, "does not exist.") {
			t.Errorf("got %+v, %+v", config, problems)
		}
	})
	for name, path := range map[string]string{"directory": dir, "too large": big} {
		t.Run(name, func(t *testing.T) {
			config, problems := Load(path)
			if config == nil || len(problems) != 1 || problems[0].Warning || problems[0].Summary != "Unable to read CLI configuration file" ||
				!strings.Contains(problems[0].Detail, path) {
				t.Errorf("got %+v, %+v", config, problems)
			}
		})
	}
	t.Run("content and problems", func(t *testing.T) {
		config, problems := Load(rc)
		if config.Hosts["a.com"]["providers.v1"] != "/p/" || len(problems) != 1 || problems[0].File != rc || problems[0].Line != 2 {
			t.Errorf("got %+v, %+v", config, problems)
		}
	})
}

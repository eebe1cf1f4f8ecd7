package command

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// recordPluginDirs keeps the values of -plugin-dir in the data directory, where
// and as the real tool does; none removes the record. Installations don't look
// at it: without the option, the usual sources count again.
func (m *Meta) recordPluginDirs(dirs []string) error {
	path := m.pluginDirsPath()
	if len(dirs) == 0 {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	content, err := encodePluginDirs(dirs)
	if err != nil {
		return err
	}
	return wholefile.Save(path, content, 0o644)
}

func (m *Meta) pluginDirsPath() string { return filepath.Join(m.dataDir(), "plugin_path") }

func encodePluginDirs(dirs []string) ([]byte, error) { return json.MarshalIndent(dirs, "", "  ") }

// maxPluginDirs is far more than such a record has, in bytes.
const maxPluginDirs = 1 << 20

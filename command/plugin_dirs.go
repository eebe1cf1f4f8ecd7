package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	return replaceFile(path, content)
}

func (m *Meta) pluginDirsPath() string { return filepath.Join(m.dataDir(), "plugin_path") }

func encodePluginDirs(dirs []string) ([]byte, error) { return json.MarshalIndent(dirs, "", "  ") }

// replaceFile writes a file, and the directory if need be, so that the file
// has either the old content or the new.
func replaceFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*.tmp")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

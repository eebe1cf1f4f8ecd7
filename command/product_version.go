package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// defaultProductVersion is what we go by for Terraform where there is nothing to go by.
const defaultProductVersion = "1.15.9"

// askTimeout is how long a program may take to tell its version. Some that are
// called so are launchers, which may even start a download.
const askTimeout = 5 * time.Second

// productVersion is the version of the product whose work we do: what
// TFDEPS_TERRAFORM_VERSION says, else that in the name that we were called by,
// else that of the program that TFDEPS_TERRAFORM_PATH names, else that of the
// terraform on PATH, else a default; likewise for tofu.
func (m *Meta) productVersion(product getproviders.Product) (string, error) {
	settings := settingsOf[product.Program]
	if given := m.Env.Get(settings.version); given != "" {
		v, err := getproviders.ParseVersion(given)
		if err != nil {
			return settings.defaultVersion, fmt.Errorf("%s is %q: %w", settings.version, given, err)
		}
		return v.String(), nil
	}
	if m.StandIn != nil && m.StandIn.Version != "" && strings.HasPrefix(m.StandIn.Name, product.Program) {
		return m.StandIn.Version, nil
	}
	program, ok := m.productProgram(product.Program)
	if !ok {
		return settings.defaultVersion, nil
	}
	memory := programMemory{dir: m.CacheDir}
	if version, ok := memory.recall(program); ok {
		return version, nil
	}
	version, err := m.askVersion(program.Path, settings)
	if err != nil {
		return settings.defaultVersion, nil // a program that doesn't run is as good as none
	}
	if !m.readOnly {
		memory.keep(program, version)
	}
	return version, nil
}

// productProgram finds the product.
func (m *Meta) productProgram(name string) (programRecord, bool) {
	if m.Env.Get(settingsOf[name].path) == "" {
		return m.findProgram(name)
	}
	path, err := m.realProgram(name)
	if err != nil {
		return programRecord{}, false
	}
	info, err := os.Stat(path)
	return newProgramRecord(path, info), err == nil
}

// findProgram finds the first program of a name on PATH that isn't ourselves:
// somebody may have put a link with the real tool's name before the real tool.
func (m *Meta) findProgram(name string) (programRecord, bool) {
	self, _ := os.Stat(m.Executable)
	for _, dir := range filepath.SplitList(m.Env.Get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // as os/exec, which doesn't run what lies around in the working directory
		}
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || self != nil && os.SameFile(self, info) {
			continue
		}
		return newProgramRecord(path, info), true
	}
	return programRecord{}, false
}

// askVersion has a program tell its version.
func (m *Meta) askVersion(path string, settings productSettings) (string, error) {
	ctx, cancel := context.WithTimeout(m.Context, askTimeout)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "version", "-json")
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second // for grandchildren that keep the pipe open
	// Should the program be a copy of ourselves after all, it has its answer
	// ready and asks nobody.
	cmd.Env = m.Env.With("CHECKPOINT_DISABLE=1", "TF_CLI_ARGS=", "TF_CLI_ARGS_version=", "TF_LOG=",
		argumentsVariable+"=", argumentsVariable+"_version=",
		settings.version+"="+settings.defaultVersion)
	if err := cmd.Run(); err != nil {
		return "", err
	}
	var answer struct {
		Version string `json:"terraform_version"`
	}
	said := out.Bytes()
	if start := bytes.IndexByte(said, '{'); start > 0 {
		said = said[start:] // warnings about the CLI configuration come before
	}
	if err := json.Unmarshal(said, &answer); err != nil {
		return "", err
	}
	v, err := getproviders.ParseVersion(answer.Version)
	return v.String(), err
}

// isProgramFile reports whether a file is a program itself. A script is a
// launcher of one program or another, so what it said once means nothing.
func isProgramFile(path string) bool {
	if runtime.GOOS == "windows" {
		return filepath.Ext(path) == ".exe"
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 2)
	n, _ := f.Read(start)
	return n == 2 && string(start) != "#!"
}

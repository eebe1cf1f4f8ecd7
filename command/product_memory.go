package command

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// programRecord is how a program file is recognised.
type programRecord struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"` // nanoseconds since 1970
	Inode   uint64 `json:"inode"` // 0: the system has none
}

func newProgramRecord(path string, info fs.FileInfo) programRecord {
	return programRecord{Path: path, Size: info.Size(), ModTime: info.ModTime().UnixNano(), Inode: inode(info)}
}

// programMemory remembers the versions of programs, one file a program. It is
// a convenience: where it can't read or write, programs are asked again.
type programMemory struct{ dir string } // "": no memory

// maxProgramRecord is far more than such a file has, in bytes.
const maxProgramRecord = 64 << 10

// rememberedProgram is the content of such a file.
type rememberedProgram struct {
	programRecord
	Version string `json:"version"`
}

// recall returns the version of a program that hasn't changed since it was asked.
func (m programMemory) recall(program programRecord) (version string, ok bool) {
	if m.dir == "" {
		return "", false
	}
	content, err := wholefile.Read(m.file(program), maxProgramRecord)
	if err != nil {
		return "", false
	}
	var known rememberedProgram
	if err := json.Unmarshal(content, &known); err != nil {
		return "", false
	}
	return known.Version, known.programRecord == program && known.Version != ""
}

// keep remembers a program's version.
func (m programMemory) keep(program programRecord, version string) {
	if m.dir == "" || !isProgramFile(program.Path) {
		return
	}
	content, err := json.Marshal(rememberedProgram{program, version})
	if err != nil || os.MkdirAll(m.dir, 0o700) != nil {
		return
	}
	_ = wholefile.Write(m.file(program), content, 0o600)
}

func (m programMemory) file(program programRecord) string {
	sum := sha256.Sum256([]byte(program.Path))
	return filepath.Join(m.dir, fmt.Sprintf("engine-%x.json", sum[:8]))
}

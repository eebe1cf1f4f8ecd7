//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

func run() (code int, err error) {
	if len(os.Args) != 3 {
		return 1, errors.New("native DRIVE_C PROGRAMS")
	}
	p := paths{os.Args[1], os.Args[2]}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1, err
	}
	if err := os.WriteFile(filepath.Join(p.programs, "address"), []byte(listener.Addr().String()), 0o600); err != nil {
		return 1, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = listener.Close()
	}()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return 0, nil // the server ends; the clients end with their connections
		}
		go func() {
			defer conn.Close()
			if err := p.serve(conn); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
}

// serve runs one program, in a process group that it kills when the client is gone.
func (p paths) serve(conn net.Conn) error {
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var c call
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	cmd := p.command(c)
	to := &answers{paths: p, encoder: json.NewEncoder(conn)}
	cmd.Stdout = writer(func(b []byte) error { return to.send(answer{Out: b}) })
	cmd.Stderr = writer(func(b []byte) error { return to.send(answer{Err: b}) })
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return errors.Join(to.send(answer{Err: []byte(err.Error() + "\n")}), to.send(answer{Ended: true, Code: 127}))
	}
	go func() {
		_, _ = io.Copy(stdin, in)
		_ = stdin.Close()
	}()
	ended := make(chan struct{})
	go func() {
		for to.send(answer{}) == nil {
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}()
	_ = cmd.Wait()
	close(ended)
	for _, dir := range append(cmd.Args, cmd.Dir) {
		_ = os.Remove(filepath.Join(dir, ".hg/wcache/checklink")) // on Windows hg makes no links, and Wine doesn't remove them
	}
	return to.send(answer{Ended: true, Code: cmd.ProcessState.ExitCode()})
}

func (p paths) command(c call) *exec.Cmd {
	path, args := p.native(c.Program), []string{}
	for _, arg := range c.Args {
		if relative.MatchString(arg) {
			arg = strings.ReplaceAll(arg, `\`, "/")
		}
		args = append(args, p.native(arg))
	}
	program := filepath.Base(path)
	if script, err := os.ReadFile(path); err == nil {
		program, args = "sh", append([]string{"-c", p.script(string(script)), path}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = p.native(c.Dir), p.environ(c.Env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // processes that the program has started may keep its output open
	return cmd
}

// answers sends the output of two streams, one answer at a time.
type answers struct {
	paths
	mu      sync.Mutex
	encoder *json.Encoder
}

func (a *answers) send(one answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	one.Out, one.Err = a.windows(one.Out), a.windows(one.Err)
	return a.encoder.Encode(one)
}

type writer func([]byte) error

func (w writer) Write(b []byte) (int, error) { return len(b), w(b) }

// paths translates between the two systems.
type paths struct{ driveC, programs string }

// A path ends at a colon or semicolon; in a script at a space or a quotation mark, too.
var (
	drive         = regexp.MustCompile(`(^|/+|[^A-Za-z/])([CcZz]):([\\/][^:;]*)`)
	relative      = regexp.MustCompile(`^[\w.-]+(\\[\w.-]+)+$`) // such as .terraform\modules\a
	driveInScript = regexp.MustCompile(`(^|/+|[^A-Za-z/])([CcZz]):([\\/][^:;'"\s]*)`)
)

func (p paths) native(text string) string { return p.translate(drive, text) }

// script returns the text of a script, which starts the host's programs directly.
func (p paths) script(text string) string {
	return regexp.MustCompile(regexp.QuoteMeta(p.programs)+`/(\w+)\.exe`).ReplaceAllString(p.translate(driveInScript, text), "$1")
}

func (p paths) translate(drive *regexp.Regexp, text string) string {
	return drive.ReplaceAllStringFunc(text, func(found string) string {
		parts := drive.FindStringSubmatch(found)
		before, root := parts[1], ""
		if strings.Count(before, "/")%2 == 1 { // the slash of a URL's path, but not of file://C:/
			before = before[1:]
		}
		if strings.EqualFold(parts[2], "c") {
			root = p.driveC
		}
		return before + root + strings.ReplaceAll(parts[3], `\`, "/")
	})
}

// environ returns the environment without variables of Windows, and with the host's PATH.
func (p paths) environ(of []string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	for _, text := range of {
		name, value, _ := strings.Cut(text, "=")
		if value == "NUL" {
			value = os.DevNull
		}
		switch strings.ToUpper(name) {
		case "PATH", "SYSTEMROOT", "TEMP", "TMP":
		default:
			env = append(env, name+"="+p.native(value))
		}
	}
	return env
}

func (p paths) windows(text []byte) []byte {
	return []byte(strings.NewReplacer("://"+p.driveC+"/", ":///C:/", p.driveC+"/", "C:/").Replace(string(text)))
}

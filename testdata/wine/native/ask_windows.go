package main

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
)

// address is the path of the file with the server's address.
var address string

// run asks the server to run a program.
func run() (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	to, err := os.ReadFile(address)
	if err != nil {
		return 1, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	conn, err := net.Dial("tcp", string(to))
	if err != nil {
		return 1, err
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(call{strings.TrimSuffix(self, ".exe"), dir, os.Args[1:], os.Environ()}); err != nil {
		return 1, err
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	for answers := json.NewDecoder(conn); ; {
		var a answer
		if err := answers.Decode(&a); err != nil {
			return 1, err
		}
		if a.Ended {
			return a.Code, nil
		}
		_, outErr := os.Stdout.Write(a.Out)
		_, errErr := os.Stderr.Write(a.Err)
		if err := errors.Join(outErr, errErr); err != nil {
			return 1, err
		}
	}
}

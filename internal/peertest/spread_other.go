//go:build !linux

package peertest

func spread(string) {}

//go:build unix

package servecmd

// signalScripts are scripts that send signals, also to this process, which has to pass them on, with their exit codes.
var signalScripts = map[string]int{
	"kill -KILL $$": 128 + 9,
	`trap "exit 7" TERM; kill -TERM $PPID; while :; do sleep 0.01; done`:                                                         7,
	`n=0; trap 'n=$((n+1)); if [ $n = 2 ]; then exit 8; fi; kill -HUP $PPID' HUP; kill -HUP $PPID; while :; do sleep 0.01; done`: 8,
}

//go:build unix

package servecmd

// signalScripts send signals, also to the process that runs them, which has to hand them back; and their exit codes.
var signalScripts = map[string]int{
	"kill -KILL $$": 128 + 9,
	`trap "exit 7" TERM; kill -TERM $PPID; while :; do sleep 0.01; done`:                                                         7,
	`n=0; trap 'n=$((n+1)); if [ $n = 2 ]; then exit 8; fi; kill -HUP $PPID' HUP; kill -HUP $PPID; while :; do sleep 0.01; done`: 8,
}

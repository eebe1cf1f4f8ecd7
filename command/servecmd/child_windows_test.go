package servecmd

// signalScripts is empty, because Windows has no signals except a console's interrupts.
var signalScripts map[string]int

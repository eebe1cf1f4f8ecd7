package servecmd

// signalScripts: there are no signals, but for a console's interrupts.
var signalScripts map[string]int

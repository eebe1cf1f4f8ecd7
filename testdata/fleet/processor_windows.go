package main

import "time"

// processorTime returns 0, because it is unknown here.
func processorTime() time.Duration { return 0 }

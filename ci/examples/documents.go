// A service with four goroutines a request that keeps the last CACHE documents, and LEAK bytes a request.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
)

var (
	limit  = number("CACHE", 320)
	leak   = number("LEAK", 0)
	lock   sync.Mutex
	next   int
	cache  = map[int][]byte{}
	leaked [][]byte
)

func main() {
	http.HandleFunc("/documents", func(http.ResponseWriter, *http.Request) {
		var group sync.WaitGroup
		for i := 0; i < 4; i++ {
			group.Add(1)
			go func() {
				defer group.Done()
				keep()
			}()
		}
		group.Wait()
		if leak > 0 {
			leaked = append(leaked, make([]byte, leak))
		}
	})
	http.HandleFunc("/live-heap", func(http.ResponseWriter, *http.Request) {
		report(fmt.Sprintf("value live_heap %d B\n", liveHeap()))
	})
	if err := http.ListenAndServe("127.0.0.1:18763", nil); err != nil {
		panic(err)
	}
}

func keep() {
	lock.Lock()
	number := next
	next++
	lock.Unlock()
	document := render(number)
	lock.Lock()
	defer lock.Unlock()
	cache[number] = document
	delete(cache, number-limit)
}

// Returns 4 KiB, and makes several times as much garbage.
func render(number int) []byte {
	rows := map[string]string{}
	for row := 0; row < 100; row++ {
		rows[fmt.Sprint("row ", row)] = fmt.Sprintf("document %d, row %d", number, row)
	}
	document, _ := json.Marshal(rows)
	return document
}

// What the collector cannot free. FreeOSMemory collects once more, which empties each sync.Pool, and returns pages to
// the kernel.
func liveHeap() uint64 {
	runtime.GC()
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Sends one line to Highwater, if it measures.
func report(line string) {
	if path := os.Getenv("HIGHWATER_MARKS"); path != "" {
		if fifo, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			fifo.WriteString(line)
			fifo.Close()
		}
	}
}

func number(variable string, usual int) int {
	if value, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return value
	}
	return usual
}

// Command gen writes the files of the demo network's feed. The tables in this
// folder are their source: operators.go, stations.go, lines.go.
package main

import (
	"log"
	"os"
	"path/filepath"
)

const folder = "feed" // below internal/demo, where go generate runs

func main() {
	files, err := generate()
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

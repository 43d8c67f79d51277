package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// stateFile marks the folder of a plane. No folder without this file is removed.
const stateFile = "plane.json"

// Plane is a running control plane.
type Plane struct {
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string `json:"kubeconfig"`
	// Server is the URL of the API server.
	Server string `json:"server"`
	// Dir contains all files of the plane.
	Dir string `json:"dir"`
	// AuditLog is the file of the API server's audit log; empty without Options.Audit.
	AuditLog string `json:"auditLog,omitempty"`

	probe probe
	// mu guards processes, because Wait looks at them while Kill and Restart change them.
	mu        sync.Mutex
	processes []process
}

// record is the state file: what another process needs to stop the plane.
type record struct {
	*Plane
	Processes []process `json:"processes"`
}

// Load reads the plane of a folder. For a folder without a plane, the error wraps fs.ErrNotExist.
func Load(dir string) (*Plane, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("load plane: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return nil, fmt.Errorf("load plane: %w", err)
	}
	state := record{Plane: &Plane{}}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, fmt.Errorf("load plane: %w", err)
	}
	if state.Dir != dir {
		return nil, fmt.Errorf("load plane: %s describes %s", filepath.Join(dir, stateFile), state.Dir)
	}
	state.Plane.processes = state.Processes
	return state.Plane, nil
}

// save is called after every started process, so that Stop can clean up after a launcher that died half way.
func (p *Plane) save() error {
	text, err := json.MarshalIndent(record{Plane: p, Processes: p.processes}, "", "  ")
	if err != nil {
		return fmt.Errorf("save plane: %w", err)
	}
	if err := os.WriteFile(filepath.Join(p.Dir, stateFile), text, 0o600); err != nil {
		return fmt.Errorf("save plane: %w", err)
	}
	return nil
}

// Running reports whether every process of the plane is alive.
func (p *Plane) Running() bool {
	for _, process := range p.processes {
		if !process.alive(p.Dir) {
			return false
		}
	}
	return len(p.processes) > 0
}

// Stop ends the plane's processes, the youngest first, and removes its folder. If a process does not end, the folder stays.
func (p *Plane) Stop() error {
	var failed []error
	for i := range p.processes {
		failed = append(failed, p.processes[len(p.processes)-1-i].stop(p.Dir))
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if err := os.RemoveAll(p.Dir); err != nil {
		return fmt.Errorf("remove plane: %w", err)
	}
	return nil
}

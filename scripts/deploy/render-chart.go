// Renders a Helm chart with the template engine and the functions that Helm itself uses (text/template, sprig), for hosts
// without Helm: render-chart CHART RELEASE NAMESPACE < changed-values.json. Prints the values, and the text and the objects
// of each template, as JSON. An unknown value is an error.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type object = map[string]interface{}

// Files are the chart's files, as in `.Files.Get`.
type Files struct{ folder string }

func (files Files) Get(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(files.folder, name))
	return string(text), err
}

type rendered struct {
	Template string        `json:"template"`
	Text     string        `json:"text"`
	Objects  []interface{} `json:"objects"`
}

func main() {
	if err := render(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(folder, release, namespace string) error {
	var chart, values, changes object
	if err := read(filepath.Join(folder, "Chart.yaml"), &chart); err != nil {
		return err
	}
	if err := read(filepath.Join(folder, "values.yaml"), &values); err != nil {
		return err
	}
	if err := json.NewDecoder(os.Stdin).Decode(&changes); err != nil {
		return err
	}
	merge(values, changes)

	names, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	if err != nil {
		return err
	}
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(sprig.TxtFuncMap()).Funcs(template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var text bytes.Buffer
			err := root.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"toYaml": func(value interface{}) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"fromYaml": func(text string) (object, error) {
			var value object
			return value, yaml.Unmarshal([]byte(text), &value)
		},
	})
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := root.New(filepath.Base(name)).Parse(string(text)); err != nil {
			return err
		}
	}

	data := object{
		"Values":  values,
		"Chart":   object{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
		"Release": object{"Name": release, "Namespace": namespace, "Service": "Helm"},
		"Files":   Files{folder},
	}
	results := []rendered{}
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasPrefix(base, "_") {
			continue
		}
		var text bytes.Buffer
		if err := root.ExecuteTemplate(&text, base, data); err != nil {
			return err
		}
		result := rendered{Template: base, Text: text.String(), Objects: []interface{}{}}
		if strings.HasSuffix(base, ".yaml") {
			for _, document := range regexp.MustCompile(`(?m)^---$`).Split(result.Text, -1) {
				var value object
				if err := yaml.UnmarshalStrict([]byte(document), &value); err != nil {
					return fmt.Errorf("%s: %w\n%s", base, err, document)
				}
				if value != nil {
					result.Objects = append(result.Objects, value)
				}
			}
		}
		results = append(results, result)
	}
	return json.NewEncoder(os.Stdout).Encode(object{"chart": chart, "values": values, "rendered": results})
}

func read(file string, value *object) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(text, value)
}

// merge changes values as `--values` does: objects are merged, everything else is replaced.
func merge(values, changes object) {
	for key, change := range changes {
		value, isObject := values[key].(object)
		changed, isChange := change.(object)
		if isObject && isChange {
			merge(value, changed)
		} else {
			values[key] = change
		}
	}
}

package widget

import "fmt"

// Box is a widget that holds others.
type Box struct{ *control }

// NewVBox returns widgets one below the other. It is ipywidgets' VBox.
func NewVBox(children ...Widget) *Box { return newBox("VBox", children) }

// NewHBox returns widgets side by side. It is ipywidgets' HBox.
func NewHBox(children ...Widget) *Box { return newBox("HBox", children) }

func newBox(name string, children []Widget) *Box {
	b := &Box{newControl(name, nil, nil)}
	b.SetChildren(children...)
	return b
}

// SetChildren replaces the box's children. It panics if a child is not a widget of this package,
// or contains the box.
func (b *Box) SetChildren(children ...Widget) {
	models := []*model{}
	for i, w := range children {
		c := controlOf(w)
		switch {
		case c == nil:
			panic(fmt.Sprintf("widget: %s: child %d is a %T, want a widget of this package", b.model.kind.name, i, w))
		case c.model.holds(b.model):
			panic(fmt.Sprintf("widget: %s: child %d contains the box itself", b.model.kind.name, i))
		}
		models = append(models, c.model)
	}
	b.model.set(traits{"children": models})
}

// holds reports whether x is m or a descendant of m.
func (m *model) holds(x *model) bool {
	if m == x {
		return true
	}
	for _, c := range m.children() {
		if c.holds(x) {
			return true
		}
	}
	return false
}

func (m *model) children() []*model {
	list, _ := m.get("children").([]*model)
	return list
}

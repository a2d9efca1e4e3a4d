package status

import (
	"errors"
	"fmt"
	"testing"
)

// TestReasons: the reason of an error outlives other messages, places and errors around it.
func TestReasons(t *testing.T) {
	e := Because(New(PlanQuery, "no %s", "x"), NoColumn)
	var own *Error
	if !errors.As(e, &own) {
		t.Fatal(e)
	}
	for name, err := range map[string]error{
		"itself": e, "another message": own.WithMessage("%s (here)", own.Msg),
		"a place": own.WithMessage("x").At(1, 2, 3),
		"wrapped": Wrap(e, InvalidArguments, "around"), "in another": fmt.Errorf("row 3: %w", e),
	} {
		if ReasonOf(err) != NoColumn {
			t.Errorf("%s: %v has reason %d", name, err, ReasonOf(err))
		}
	}
	for name, err := range map[string]error{"none": New(PlanQuery, "x"), "nil": nil,
		"of others": Because(errors.New("x"), NoColumn)} {
		if ReasonOf(err) != 0 {
			t.Errorf("%s: %v has reason %d", name, err, ReasonOf(err))
		}
	}
}

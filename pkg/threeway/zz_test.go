package threeway
import ("testing";"math/rand/v2";"time";"fmt";"k8s.io/apimachinery/pkg/api/resource")
func TestZZ(t *testing.T){
	for _, q := range []string{"1e99","1e-99","1e300","1e-300","1e999","1e-999"} { a:=time.Now(); x,err:=resource.ParseQuantity(q); fmt.Println(q, err, time.Since(a)); if err==nil{ s:=x.String(); fmt.Println(len(s), time.Since(a)) } }
	worst := time.Duration(0)
	for round := range 30 {
	for i, o := range samples(t) {
		rng := rand.New(rand.NewPCG(uint64(i), uint64(round)))
		desired := o.Object
		desired.Content, _ = vandalised(rng, deepCopy(o.Content)).(map[string]any)
		live, _ := vandalised(rng, deepCopy(o.Content)).(map[string]any)
		a := time.Now()
		done := make(chan bool)
		go func(){ Compare(o.input(desired, live)); close(done) }()
		select { case <-done: case <-time.After(5*time.Second): t.Fatalf("hang %s\n%v\n%v", o.Source, desired.Content, live) }
		if d := time.Since(a); d > worst { worst = d; fmt.Println(worst, o.Source) }
	}}
}

package plan

import (
	"math"

	"github.com/streamctl/streamctl/internal/model"
)

// balance is how the tasks lie over the instances now.
func (r *recorder) balance(factor float64) Balance { return r.balanceOf(r.top.Len(), factor) }

// balanceOf is how so many tasks lie over the instances now.
func (r *recorder) balanceOf(tasks int, factor float64) Balance {
	b := Balance{Balanced: !r.deserted() || tasks == 0, Instances: map[string]Counts{}}
	var workers []int
	all := 0
	for _, p := range r.parties {
		if !p.gone && !p.leaving {
			workers = append(workers, p.workers)
			all += p.workers
		}
	}
	bounds := model.Bounds(tasks, workers, model.FactorThousandths(factor))
	k := 0
	for _, p := range r.parties {
		if p.gone {
			continue
		}
		c := Counts{Name: p.name, Workers: p.workers, Active: len(p.active), Standby: len(p.standby), Learner: len(p.learner), Balanced: true}
		if !p.leaving {
			c.Expected = float64(tasks) * float64(p.workers) / float64(all)
			c.Low, c.High = bounds[k].Low, bounds[k].High
			c.Balanced = bounds[k].Has(c.Active)
			k++
			if c.Expected > 0 {
				b.MaxOverExpected = max(b.MaxOverExpected, round3(float64(c.Active)/c.Expected))
			}
		}
		b.Balanced = b.Balanced && c.Balanced
		c.Expected = round3(c.Expected)
		b.Instances[p.id] = c
	}
	return b
}

func round3(x float64) float64 { return math.Round(x*1000) / 1000 }

package tensor
import ("testing";"runtime";"fmt";"runtime/debug";"halfnote/tensor/driver")
func BenchmarkR(b *testing.B) {
	x, y := Randn(1<<17), Randn(1<<17)
	b.Run("add", func(b *testing.B){ for range b.N { x.Add(y) } })
	b.Run("addrelease", func(b *testing.B){ for range b.N { release(x.Add(y)) } })
	for _, k := range []int{1,4,8,16,32,64,128} {
		b.Run(fmt.Sprint("ring",k), func(b *testing.B){
			ring := make([]*Tensor,k)
			for i := range ring { ring[i]=unsetTensor(x.mem.backend, Float32, x.shape) }
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			b.ResetTimer()
			for i := range b.N { run(driver.Kernel{Code: driver.Add}, ring[i%k], x, y) }
		})
	}
	b.Run("gc", func(b *testing.B){ for range b.N { runtime.GC() } })
	b.Run("collect", func(b *testing.B){ for range b.N { driver.CollectGarbage() } })
}

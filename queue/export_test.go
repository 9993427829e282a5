package queue

// BeLazy makes a running consumer as lazy as it is after a long time without messages.
func BeLazy(c *Consumer) {
	e := c.engine.Load()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lastTaken = e.lastTaken.Add(-2 * lazyAfter)
}

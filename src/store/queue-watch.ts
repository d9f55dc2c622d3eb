/** Tells those who take work that there may be some. */
export interface QueueWatch {
  /**
   * Calls back when an order, a run or a message may have become due, until the returned function is called. It only
   * wakes: a call that is late, doubled or for nothing changes nothing, because the claim decides.
   */
  watchQueue(wake: () => void): () => void;
}

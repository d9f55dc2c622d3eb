/**
 * Creates a response body that is produced while it is read. `release` is called once: at the end, on failure, or when
 * the reader disconnects. The generator cannot release anything itself, because it might never be started.
 */
export function streamBody(
  chunks: AsyncGenerator<Uint8Array, void>,
  release: () => Promise<void> = async () => undefined,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { value, done } = await chunks.next();
            if (done === true) break;
            if (value.length === 0) continue;
            controller.enqueue(value);
            return;
          }
        } catch (error) {
          await release();
          throw error;
        }
        await release();
        controller.close();
      },
      async cancel() {
        await chunks.return();
        await release();
      },
    },
    { highWaterMark: 0 },
  );
}

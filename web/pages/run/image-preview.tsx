import { useEffect, useRef } from 'preact/hooks';

/**
 * An image created by an agent, painted onto a canvas: the browser only decodes its pixels, so the file cannot run
 * code.
 */
export function ImagePreview({
  bytes,
  width,
  height,
  onFailure,
}: {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
  readonly onFailure: () => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isCurrent = true;
    const paint = async (): Promise<void> => {
      try {
        const bitmap = await createImageBitmap(new Blob([bytes]));
        if (isCurrent) canvas.current?.getContext('2d')?.drawImage(bitmap, 0, 0);
        bitmap.close();
      } catch {
        if (isCurrent) onFailure();
      }
    };
    void paint();
    return () => {
      isCurrent = false;
    };
  }, [bytes]);
  return (
    <canvas
      ref={canvas}
      class="image-preview"
      width={width}
      height={height}
      role="img"
      aria-label={`Picture, ${width} × ${height}`}
    />
  );
}

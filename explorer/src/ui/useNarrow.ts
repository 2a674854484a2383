import { useEffect, useState } from 'preact/hooks';

/** Tells whether the window is narrower than so many pixels. */
export function useNarrow(pixels: number): boolean {
  const query = `(max-width: ${pixels}px)`;
  const [isNarrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const read = () => setNarrow(list.matches);
    list.addEventListener('change', read);
    return () => list.removeEventListener('change', read);
  }, [query]);
  return isNarrow;
}

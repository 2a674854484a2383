//! Whether the page is light or dark. A canvas does not follow custom properties, so it has to be drawn anew.

import { useEffect, useState } from 'preact/hooks';

/** Returns a number that changes whenever colours may have changed. */
export function useAppearance(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const change = () => setVersion((count) => count + 1);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', change);
    const observer = new MutationObserver(change);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['class', 'style', 'data-theme'] });
    return () => {
      scheme.removeEventListener('change', change);
      observer.disconnect();
    };
  }, []);
  return version;
}

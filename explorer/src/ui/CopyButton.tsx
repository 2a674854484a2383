import { useState } from 'preact/hooks';

import { Button } from './Button';
import { toast } from './toast';

export interface CopyButtonProps {
  text: string;
  /** What is copied, for readers of screens and as a hint. */
  label: string;
  /** What the button shows. */
  caption?: string;
}

export function CopyButton({ text, label, caption = 'Copy' }: CopyButtonProps) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      toast('The browser did not permit copying.', 'bad');
    }
  };
  return (
    <Button kind="ghost" small title={label} aria-label={label} onClick={() => void copy()}>
      {isDone ? 'Copied' : caption}
    </Button>
  );
}

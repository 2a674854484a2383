import { CopyButton } from '../../ui';

/** A text that is copied whole: a command, a script, a part of a policy. */
export function Code({ name, text }: { name: string; text: string }) {
  return (
    <figure class="advice-code">
      <figcaption class="row between">
        <span class="dim small">{name}</span>
        <CopyButton text={text} label={`Copy: ${name}`} />
      </figcaption>
      <pre tabIndex={0} role="group" aria-label={name}>
        {text}
      </pre>
    </figure>
  );
}

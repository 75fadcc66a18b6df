"""Chat templates of the kinds that models ship, written for these tests."""

CHATML = """\
{% for message in messages %}
{% if loop.first and message['role'] != 'system' %}
{{ '<|im_start|>system\\nYou are helpful.<|im_end|>\\n' }}
{%- endif %}
{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}
{%- endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

TRIMMING = CHATML.replace("message['content']", "message['content'] | trim")

BEGIN = "{{ bos_token }}" + CHATML

# Refuses everything but user and assistant in turns, after at most one system text.
ALTERNATING = """\
{% if messages[0]['role'] == 'system' %}
{% set head = messages[0]['content'] + '\\n\\n' %}{% set turns = messages[1:] %}
{% else %}
{% set head = '' %}{% set turns = messages %}
{% endif %}
{% for message in turns %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('roles must alternate, not: ' + message['role'] + message['content']) }}
{% endif %}
{% if message['role'] == 'user' %}
{{ '[INST] ' + (head if loop.first else '') + message['content'] + ' [/INST]' }}
{%- else %}
{{ ' ' + message['content'] + '</s>' }}
{%- endif %}
{% endfor %}"""

# Offers tools by itself, in the form the server reads, and has a role for results.
TOOLED = (
    """\
{% if tools %}
{{ '<|im_start|>system\\nTools, called as <tool_call>:\\n' }}
{%- for tool in tools %}{{ tool | tojson }}{{ '\\n' }}{% endfor %}{{ '<|im_end|>\\n' }}
{%- endif %}
"""
    + CHATML
)

# Shows only the reasoning of the last turn, as reasoning models do.
FORGETFUL = """\
{% for message in messages %}
{% set text = message['content'] %}
{% if message['role'] == 'assistant' and '</think>' in text %}
{% set thought = text.split('</think>')[0].split('<think>')[-1] %}
{% set text = text.split('</think>')[-1].lstrip('\\n') %}
{% if loop.last %}{% set text = '<think>' + thought + '</think>\\n\\n' + text %}{% endif %}
{% endif %}
{{ '<|im_start|>' + message['role'] + '\\n' + text + '<|im_end|>\\n' }}
{%- endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""
